import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { toJsonSchema } from '../../parts/schemas.ts';
import { hasMeaning, someInside } from '../../parts/shapes/branches.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Session } from '../session/session.ts';
import { freshOf } from '../values/fresh.ts';
import type { Draft } from '../values/values.ts';

/** What a transition takes for a field that no two rows may share: another value each time. */
export function withUnique(
  { model }: Session,
  endpoint: Endpoint,
  { resource: name, transition }: { readonly resource: string; readonly transition: string },
  out: Record<string, Draft | Symbolic>,
): void {
  const resource = model.resource(name);
  const properties = statedValue(model.requestShape(endpoint))?.properties;
  for (const field of new Set((resource?.unique ?? []).flatMap(({ fields }) => fields))) {
    const [, member = ''] =
      /^request\.(\w+)$/.exec((resource && entryOf(resource.fields, field)?.set[transition]?.source.trim()) ?? '') ?? [];
    const shape = isMap(properties) ? properties[member] : undefined;
    if (Object.hasOwn(out, member) && isMap(shape)) out[member] = freshOf(model.spec, shape) ?? out[member] ?? null;
  }
}

/** A patch of one branch of a union, merged into another, fits neither. */
export function withoutUnions(session: Session, name: string, out: Record<string, Draft | Symbolic>): void {
  const resource = session.model.resource(name);
  for (const [field, { shape }] of resource ? entriesOf(resource.fields) : []) {
    if (isStated(shape) && someInside(toJsonSchema(session.model.spec, shape.value, 'sent'), isUnionShape)) delete out[field];
  }
}

function isUnionShape(shape: JsonMap): boolean {
  return hasMeaning(shape, 'alternatives', 'exclusive alternatives');
}

/** What is set once is sent unchanged, or not at all; so is what a row is called, which its path says already. */
export function keepImmutable(session: Session, name: string, row: TrialRow, out: Record<string, Draft | Symbolic>): void {
  const resource = session.model.resource(name);
  const identifier = row.resource === name ? session.model.identifierField(name) : undefined;
  for (const [field, { immutable }] of resource ? entriesOf(resource.fields) : []) {
    if ((!immutable && field !== identifier) || !Object.hasOwn(out, field)) continue;
    const known = field === identifier ? row.id : row.known[field];
    if (known === undefined) delete out[field];
    else out[field] = known;
  }
}
