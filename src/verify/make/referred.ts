import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath } from '../../parts/payload.ts';
import { ownRulesAt } from '../errors/own-condition.ts';
import type { Follow } from '../model/expectation.ts';
import { NotSeen } from '../model/expressions.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import { Untestable } from '../untestable.ts';
import { answering } from './demands.ts';
import type { TrialRow, WantedRow } from './row.ts';

type Make = (resource: string, wanted: WantedRow) => Promise<TrialRow>;

/** A field of what is referred to that a condition reads: `bench.stone` of `next.bench.stone`. */
interface ReadThrough {
  readonly field: string;
  readonly member: string;
}

/**
 * Rows for a new one to refer to, by its fields, so that no error of the service's own refuses it: in the state, and with the values, that
 * their conditions ask for. Only what cannot be left as it is made otherwise; nothing where that cannot be brought about.
 */
export async function referredFor(
  session: Session,
  endpoint: Endpoint,
  wanted: WantedRow,
  make: Make,
): Promise<Readonly<Record<string, TrialRow>>> {
  const verb = statedValue(endpoint.does)?.verb;
  if (verb !== 'create' && verb !== 'upsert') return wanted.parents ?? {};
  const given = { ...wanted.parents };
  const isFree = (field: string) => given[field] === undefined && wanted.body?.[field] === undefined;
  const alike = rulesThrough(session, endpoint).flatMap(({ rule, reads }) => pairOf(session, endpoint, rule, reads));
  const asked = new Map(
    referencesOf(session, endpoint, wanted).map((field) => [field, answering(session, endpoint, field, wanted)]),
  );
  const fields = [...asked.keys()].filter((field) => asked.get(field) || alike.flat().some((one) => one.field === field));
  try {
    for (const field of fields.filter(isFree)) {
      const body: Record<string, Symbolic> = { ...asked.get(field)?.body };
      for (const [one, other] of alike.flatMap(([left, right]) => [
        [left, right],
        [right, left],
      ])) {
        const value = one?.field === field && other ? given[other.field]?.known[other.member] : undefined;
        if (value !== undefined && one) body[one.member] = value;
      }
      const asking = wanted.caller ?? wanted.for;
      const state = asked.get(field)?.state;
      given[field] = await make(targetOf(session, endpoint, field), { body, ...(state !== undefined && { state }), for: asking });
    }
    return given;
  } catch (error) {
    if (!(error instanceof Untestable)) throw error;
    return wanted.parents ?? {};
  }
}

/** The references of a new row: those that it always has, and those that a whole one has. */
function referencesOf(session: Session, endpoint: Endpoint, { style = 'plain' }: WantedRow): string[] {
  const resource = session.model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const references = (resource ? entriesOf(resource.fields) : []).filter(([, { ref }]) => ref !== undefined);
  return references.map(([name]) => name).filter((name) => style !== 'plain' || isAsked(session, endpoint, name));
}

interface RuleThrough {
  readonly rule: Expression;
  readonly reads: readonly ReadThrough[];
}

/** The conditions of own errors that read what required references lead to. */
function rulesThrough(session: Session, endpoint: Endpoint): RuleThrough[] {
  const { model } = session;
  return ownRulesAt(model, endpoint).flatMap(({ rule }): RuleThrough[] => {
    if (!rule.if) return [];
    const all = model.expressions.readsOf(rule.if, endpoint.operation);
    const reads = all.flatMap(({ root, path: [field, ...more], follows = [] }): ReadThrough[] => {
      const [member, ...further] = follows;
      const isDirect = root === 'next' && more.length === 0 && further.length === 0;
      if (!isDirect || field === undefined || member === undefined || !isAsked(session, endpoint, field)) return [];
      return [{ field, member }];
    });
    return reads.length === 0 ? [] : [{ rule: rule.if, reads }];
  });
}

/** Whether a new row always has the reference. */
function isAsked({ model }: Session, endpoint: Endpoint, field: string): boolean {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const stated = resource && entryOf(resource.fields, field);
  if (stated?.ref === undefined) return false;
  return statedValue(stated.required) === true || boundByPath(model.spec, endpoint).includes(field);
}

function targetOf({ model }: Session, endpoint: Endpoint, field: string): string {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  return (resource && entryOf(resource.fields, field)?.ref) ?? '';
}

/** The two members that have to be alike for a condition not to hold. */
function pairOf(session: Session, endpoint: Endpoint, rule: Expression, reads: readonly ReadThrough[]) {
  const [left, right, ...more] = reads;
  if (!left || !right || more.length > 0 || left.field === right.field) return [];
  const rows = (value: string) => ({ [left.field]: { [left.member]: 'one' }, [right.field]: { [right.member]: value } });
  const isPair = isSpared(session, endpoint, rule, rows('one')) && !isSpared(session, endpoint, rule, rows('other'));
  return isPair ? [[left, right] as const] : [];
}

/** Reads imagined rows by their identifiers; nothing is known of what is looked up otherwise. */
function rowsById(rows: Readonly<Record<string, ShownFields>>): Follow {
  return (_resource, key) => {
    if (typeof key !== 'string') throw new NotSeen('it is looked up');
    return rows[key];
  };
}

/** Whether a condition does not hold where the rows that are referred to are so. */
function isSpared(
  { model }: Session,
  endpoint: Endpoint,
  rule: Expression,
  rows: Readonly<Record<string, ShownFields>>,
): boolean {
  const next = Object.fromEntries(Object.keys(rows).map((field) => [field, field]));
  const context = { next, operation: endpoint.operation, follow: rowsById(rows) };
  const evaluated = model.expressions.evaluate(rule, endpoint.operation, { context });
  return typeof evaluated === 'object' && evaluated.value === false;
}
