import { type Children, childrenBounds } from '../../parts/children.ts';
import { operationsOf, verbOf } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { QuerySpec, Reader as Rows, Scalar } from '../../store/store.ts';
import { freeReading, keepShown, type RowAccess } from '../callers/operation-access.ts';
import type { Fields } from '../exchange/exchange.ts';
import { compilePrune, isHidden } from '../exchange/visibility.ts';
import type { Models, Work } from './act.ts';
import { identifierValue, type RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Puts the rows that refer to a row into it, in place, each made ready by `each`. */
export type ShowChildren = (work: Work<Rows>, fields: Fields, each: (model: RowModel, row: Fields) => void) => void;

/** Compiles the showing of the children of a resource, as one user sees them; nothing where there are none. */
export function compileChildrenShown(model: RowModel, models: Models, compilation: ViewCompilation): ShowChildren | undefined {
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
