import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { takesChildren } from '../../parts/payload.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Follow } from '../model/expectation.ts';
import { NotSeen } from '../model/expressions.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { answeringAll, type Demand } from './demands.ts';

/** Makes what children refer to: all that go with one row, so that they can go together. */
export type MakeForChildren = (target: string, wanted: WantedRow) => Promise<TrialRow>;

/** The resources whose rows an endpoint takes as children of the row that it makes. */
export function childrenTaken({ model }: Session, endpoint: Endpoint): readonly string[] {
  const fields = entriesOf(model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '')?.fields);
  return fields.flatMap(([, field]) => (field.children && takesChildren(field) ? [field.children.resource] : []));
}

/**
 * Makes what children refer to that are sent with one row, so that their own errors refuse none of it: each as is asked of it alone, and what
 * these errors read of it as the first of its kind has it, for what it has in common with the row shows only once that is there.
 */
export function makerForChildren(session: Session, children: readonly string[], make: MakeForChildren): MakeForChildren {
  const firsts = new Map<string, TrialRow>();
  return async (target, wanted) => {
    const demands = children.flatMap((child) => demandsOf(session, child, target));
    if (demands.length === 0) return make(target, wanted);
    const first = firsts.get(target);
    const asks = first ? { body: asItHas(first, demands) } : answeringAll(session, target, wanted.caller ?? wanted.for, demands);
    const row = await make(target, { ...wanted, ...asks, body: { ...asks?.body, ...wanted.body } });
    if (!first) firsts.set(target, row);
    return row;
  };
}

/** What the errors read of a row, as it has it; what it does not show is left as it is drawn. */
function asItHas({ known, fields }: TrialRow, demands: readonly Demand[]): Readonly<Record<string, Symbolic>> {
  const read = new Set(demands.flatMap(({ members }) => members));
  return Object.fromEntries(
    [...read].flatMap((name) => (known[name] !== undefined && fields?.[name] !== undefined ? [[name, known[name]]] : [])),
  );
}

function demandsOf(session: Session, child: string, target: string): Demand[] {
  const references = entriesOf(session.model.resource(child)?.fields).filter(([, { ref }]) => ref === target);
  return references.flatMap(([field]) => demandsOn(session, child, field));
}

/** The errors of the service's own that a child may be refused with whatever it is sent with, for what a field of it refers to. */
function demandsOn({ model }: Session, child: string, field: string): Demand[] {
  const operation = `create ${child}`;
  const rules = model.refusals.all().filter(({ rule }) => rule.if !== undefined && rule.on?.includes(operation) !== false);
  return rules.flatMap(({ rule }) => {
    const condition = rule.if;
    const reads = condition ? model.expressions.readsOf(condition, operation) : [];
    const isThrough = reads.every(({ root, path, follows = [] }) => root === 'next' && path.length === 1 && follows.length > 0);
    const members = new Set(reads.flatMap(({ path, follows = [] }) => (path[0] === field && follows[0] ? [follows[0]] : [])));
    if (!condition || !isThrough || members.size === 0) return [];
    // Each reference leads to a row of its own, of which one alone is imagined.
    const next = Object.fromEntries(reads.map(({ path: [name = ''] }) => [name, name]));
    const isMet = (row: ShownFields) => {
      const follow: Follow = (_resource, key) => {
        if (key !== field) throw new NotSeen('it is another row');
        return row;
      };
      const evaluated = model.expressions.evaluate(condition, operation, { context: { next, operation, follow } });
      return evaluated === 'unknown' || (typeof evaluated === 'object' && evaluated.value === false);
    };
    return [{ members: [...members], source: condition.source, isFirm: true, isMet }];
  });
}
