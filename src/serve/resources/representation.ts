/** How rows are shown: what their reader may see, with the rows that they refer to and that refer to them put in. */

import { pointerOf } from '../../document/pointer.ts';
import { type Children, childrenBounds } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { operationsOf, resourceOfEffect, verbOf } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import { isMembers } from '../../parts/versions/carry.ts';
import type { QuerySpec, Reader as Rows, Scalar } from '../../store/store.ts';
import { freeReading, keepShown, type RowAccess } from '../callers/operation-access.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Exchange, Fields, Value } from '../exchange/exchange.ts';
import { compilePrune, isHidden, type Prune } from '../exchange/visibility.ts';
import { toJson } from '../http/json.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { Models, Work } from './act.ts';
import { identifierValue, type RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** How one endpoint shows the rows of one resource to one user. */
export interface Representation {
  /** Whether the stored text may be sent as it is. */
  readonly isPlain: boolean;
  /** Whether an answer can show more than the row, or less of it. */
  readonly mayDiffer: boolean;
  /** Whether this one does. */
  readonly differs: (exchange: Exchange) => boolean;
  /** The text of stored fields as shown, where nothing but the version makes it another one; the fields are not touched. */
  readonly lowered: ((fields: Fields) => string) | undefined;
  /** The fields as shown, in the newest shape; the stored ones are not touched. */
  show(work: Work<Rows>, exchange: Exchange, doc: string): Fields;
  /** The text as shown, in the shape of the version. */
  text(work: Work<Rows>, exchange: Exchange, doc: string): string;
}

export function compileRepresentation(
  model: RowModel,
  endpoint: Endpoint,
  models: Models,
  compilation: ViewCompilation,
  reveals: boolean,
): Representation {
  const reader = { user: compilation.user, reveals };
  const prune = compilePrune(compilation.spec, { resource: model.name }, reader);
  const expander = new Expander(models, compilation);
  const isShownWhole = model.references.some(({ show }) => show !== undefined && show !== 'id');
  const always = isShownWhole || expander.showsChildren(model);
  const parameter = endpoint.expand?.parameter;
  const depth = endpoint.expand?.depth ?? 0;
  const mayExpand = always || parameter !== undefined;
  const carries = mayExpand ? compilation.version?.carries.expanding : compilation.version?.carries;
  const carry = carries?.resource(model.name);
  const shown = compilation.access.fieldsShown(model.name, compilation.user);
  const { select } = endpoint;
  const isPlain = !prune && !shown && !mayExpand && !carry && !select;
  const asked = (exchange: Exchange) => {
    if (parameter === undefined) return [];
    // Where a body is sent, the parameter may stand in it.
    const { params, request } = exchange;
    return expansionPaths(params[parameter] ?? (isMembers(request) ? request[parameter] : undefined));
  };

  function show(work: Work<Rows>, exchange: Exchange, doc: string): Fields {
    const fields = model.parse({ doc });
    const seen = shown?.(work.scope, fields);
    prune?.(fields);
    keepShown(fields, seen);
    const paths = asked(exchange);
    if (always || paths.length > 0) expander.expand(work, model, fields, paths, depth, 0);
    // What refers to it stands there by now.
    keepShown(fields, seen);
    return fields;
  }
  return {
    isPlain,
    mayDiffer: mayExpand || select !== undefined,
    lowered: carry && !prune && !shown && !mayExpand && !select ? (fields) => toJson(carry.down(fields)) : undefined,
    differs: (exchange) => always || exchange.selected !== undefined || asked(exchange).length > 0,
    show,
    text(work, exchange, doc) {
      const { selected } = exchange;
      if (selected) {
        const fields = show(work, exchange, doc);
        return toJson(selected(carry ? carry.down(fields) : fields));
      }
      if (carry) return toJson(carry.down(show(work, exchange, doc)));
      return isPlain || (!prune && !shown && !always && asked(exchange).length === 0) ? doc : toJson(show(work, exchange, doc));
    },
  };
}

/** References nest: an expansion that is always shown stops at this depth. */
const depthMax = 4;

class Expander {
  readonly #models: Models;
  readonly #compilation: ViewCompilation;
  readonly #children = new Map<string, ShowChildren | undefined>();
  readonly #prunes = new Map<string, Prune | undefined>();

  constructor(models: Models, compilation: ViewCompilation) {
    this.#models = models;
    this.#compilation = compilation;
  }

  /** Whether rows of it hold others that refer to them. */
  showsChildren(model: RowModel): boolean {
    return this.#childrenOf(model) !== undefined;
  }

  #childrenOf(model: RowModel): ShowChildren | undefined {
    if (!this.#children.has(model.name))
      this.#children.set(model.name, compileChildrenShown(model, this.#models, this.#compilation));
    return this.#children.get(model.name);
  }

  expand(work: Work<Rows>, model: RowModel, fields: Fields, paths: readonly string[], depth: number, level: number): void {
    for (const { field, target, show, shown } of model.references) {
      const here = paths.some((path) => path === field || path.startsWith(`${field}.`));
      const isShown = show !== undefined && show !== 'id' && level < depthMax;
      if (!(here && level < depth) && !isShown) continue;
      const inner = paths.filter((path) => path.startsWith(`${field}.`)).map((path) => path.slice(field.length + 1));
      const whole = this.#fetch(work, target, fields[field], inner, depth, level);
      if (whole) fields[field] = here || !shown ? whole : narrowed(whole, shown);
    }
    if (level < depthMax)
      this.#childrenOf(model)?.(work, fields, (child, row) => this.expand(work, child, row, [], depth, level + 1));
  }

  /** What a reference names, where the caller may read it; else it stays an identifier. */
  #fetch(
    work: Work<Rows>,
    target: string,
    id: Value,
    paths: readonly string[],
    depth: number,
    level: number,
  ): Fields | undefined {
    const model = this.#models.get(target);
    const row = id === undefined || id === null ? undefined : model && work.rows.get(target, String(id));
    if (!model || !row) return undefined;
    const fields = model.parse(row);
    const { access, user } = this.#compilation;
    const reading = access.reading(target, user);
    if (!reading.isFree && !reading.allows(work.scope, fields)) return undefined;
    if (!this.#prunes.has(target)) {
      this.#prunes.set(
        target,
        compilePrune(this.#compilation.spec, { resource: target }, { user: this.#compilation.user, reveals: false }),
      );
    }
    const seen = access.fieldsShown(target, user)?.(work.scope, fields);
    this.#prunes.get(target)?.(fields);
    keepShown(fields, seen);
    this.expand(work, model, fields, paths, depth, level + 1);
    keepShown(fields, seen);
    return fields;
  }
}

/** A reference shown in a shape of its own: the fields that the shape names. */
function narrowed(whole: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]])));
}

/** What is asked to be shown whole, as paths from the row; or what of it is no reference, or deeper than the endpoint says. */
export type ReadExpansion = (
  asked: Value,
  place: 'query' | 'body',
) => { readonly paths: readonly string[] } | { readonly violations: readonly Violation[] };

/** Compiles the reading of it; nothing where nothing can be asked for. */
export function compileExpansion({ does, expand }: Endpoint, { spec }: Compilation): ReadExpansion | undefined {
  const effect = statedValue(does);
  const root = resourceOfEffect(effect);
  if (!expand || root === undefined) return undefined;
  const leads = (resource: string | undefined, [field, ...rest]: readonly string[], depth: number): boolean => {
    if (field === undefined) return true;
    const stated = resource === undefined || depth === 0 ? undefined : entryOf(spec.resources.all, resource);
    const target = stated && entryOf(stated.fields, field)?.ref;
    return target !== undefined && leads(target, rest, depth - 1);
  };
  const before = effect?.verb === 'list' && expand.below !== undefined ? `${expand.below}.` : '';
  const isGood = (path: string) => path.startsWith(before) && leads(root, path.slice(before.length).split('.'), expand.depth);
  return (asked, place) => {
    const all = expansionPaths(asked);
    const bad = all.filter((path) => !isGood(path));
    if (bad.length === 0) return { paths: all.map((path) => path.slice(before.length)) };
    const path = place === 'query' ? expand.parameter : pointerOf([expand.member ?? '']);
    const expected = before === '' ? 'a field that refers to something' : `${before} and a field that refers to something`;
    return { violations: bad.map((one) => ({ in: place, path, found: describeValue(one), expected })) };
  };
}

/** The paths that an expansion names: several parameters, or one text parted by commas. */
export function expansionPaths(value: Value): string[] {
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  return list
    .flatMap((entry) => String(entry).split(','))
    .map((path) => path.trim())
    .filter((path) => path !== '');
}

/** Puts the rows that refer to a row into it, in place, each made ready by `each`. */
type ShowChildren = (work: Work<Rows>, fields: Fields, each: (model: RowModel, row: Fields) => void) => void;

/** Compiles the showing of the children of a resource, as one user sees them; nothing where there are none. */
function compileChildrenShown(model: RowModel, models: Models, compilation: ViewCompilation): ShowChildren | undefined {
  const shows = [...model.fields.values()].flatMap((field) => {
    const child = field.children && models.get(field.children.resource);
    const isSeen = !isHidden(field, { user: compilation.user, reveals: false });
    return field.children && child && isSeen ? [compileShow(field.name, field.children, model, child, compilation)] : [];
  });
  if (shows.length === 0) return undefined;
  return (work, fields, each) => {
    for (const show of shows) show(work, fields, each);
  };
}

function compileShow(
  name: string,
  children: Children,
  model: RowModel,
  child: RowModel,
  compilation: ViewCompilation,
): ShowChildren {
  const { spec, access, user } = compilation;
  const { envelope } = children;
  const find = compileChildrenFound(children, model, child, compilation);
  const prune = compilePrune(spec, { resource: child.name }, { user, reveals: false });
  const fieldsShown = access.fieldsShown(child.name, user);
  return (work, fields, each) => {
    const { rows: shown, hasMore } = find(work, fields);
    for (const row of shown) {
      const seen = fieldsShown?.(work.scope, row);
      prune?.(row);
      keepShown(row, seen);
      each(child, row);
      keepShown(row, seen);
    }
    if (!envelope) fields[name] = shown;
    else
      fields[name] = {
        ...envelope.data,
        [envelope.items]: shown,
        ...(envelope.hasMore !== undefined && { [envelope.hasMore]: hasMore }),
      };
  };
}

/** The children of a row that its reader is shown, in their order, and whether there are more. */
type FindChildren = (work: Work<Rows>, parent: Fields) => { readonly rows: Fields[]; readonly hasMore: boolean };

/** Compiles the finding of the children of one field for one user. */
export function compileChildrenFound(
  { field, order, page }: Children,
  model: RowModel,
  child: RowModel,
  compilation: ViewCompilation,
): FindChildren {
  const referrer = model.referrers.find((one) => one.from === child.name && one.field === field);
  if (!referrer) throw new Error(`No ${child.name} refers to a ${model.name} by its ${field}.`);
  const query: QuerySpec = {
    ...referrer.query,
    order: order.map((one) => ({ column: one.field, descending: one.descending })),
    limit: 1,
  };
  const reading = readingOfChildren(child, compilation);
  // What the caller may not read is passed over, and found out row by row.
  const limit = reading.isFree ? page + 1 : childrenBounds.most + 1;
  return (work, parent) => {
    const id = identifierValue(String(parent[model.identifier.field]), referrer.isInteger) as Scalar;
    const found = work.rows.all(query, [id, limit]);
    const rows = found.map((row) => child.parse(row)).filter((row) => reading.isFree || reading.allows(work.scope, row));
    return { rows: rows.slice(0, page), hasMore: rows.length > page || found.length > childrenBounds.most };
  };
}

/** Which children one user may read; those of a resource that nothing reads alone it reads with their row. */
export function readingOfChildren({ name }: RowModel, { spec, access, user }: ViewCompilation): RowAccess {
  return isReadAlone(spec, name) ? access.reading(name, user) : freeReading;
}

/** Whether rows of a resource are read by an operation of their own; others are read with the row that shows them. */
function isReadAlone(spec: Spec, resource: string): boolean {
  return operationsOf(spec).some((one) => one.resource === resource && ['read', 'list'].includes(verbOf(one) ?? ''));
}
