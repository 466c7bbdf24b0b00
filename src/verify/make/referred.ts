import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, takesChildren } from '../../parts/payload.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Follow } from '../model/expectation.ts';
import { NotSeen } from '../model/expressions.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { answering } from './demands.ts';
import { namedByReference } from './entrusted.ts';
import { rowCalledSo } from './row-named.ts';

/** `isOwn`: no other row refers to it. */
type Make = (resource: string, wanted: WantedRow, isOwn?: boolean) => Promise<TrialRow>;

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
  const alike = rulesThrough(session, endpoint).flatMap(({ rule, reads }) => pairOf(session, endpoint.operation, rule, reads));
  const asked = new Map(
    referencesOf(session, endpoint, wanted).map((field) => [field, answering(session, endpoint, field, wanted)]),
  );
  const shared = new Set(childTies(session, endpoint).map(({ shared: field }) => field));
  const ties = ownTies(session, endpoint).filter(({ field, own }) => asked.has(field) && asked.has(own));
  const isTied = (field: string) => ties.some((tie) => tie.field === field || tie.own === field);
  const needed = [...asked.keys()].filter(
    (field) =>
      asked.get(field) ||
      shared.has(field) ||
      isTied(field) ||
      isAloneBelow(session, endpoint, field) ||
      alike.flat().some((one) => one.field === field),
  );
  // What another one has to refer to as well comes before it.
  const fields = needed.sort((one, other) => Number(isBelow(ties, one)) - Number(isBelow(ties, other)));
  try {
    for (const field of asked.keys()) {
      const id = isFree(field) && !asked.get(field) ? namedHere(session, endpoint, field, wanted) : undefined;
      const target = targetOf(session, endpoint, field);
      const row = id === undefined ? undefined : await rowCalledSo(session, target, id, (more) => make(target, more));
      if (row) given[field] = row;
    }
    for (const field of fields.filter(isFree)) {
      const body: Record<string, Symbolic> = { ...asked.get(field)?.body };
      for (const [one, other] of alike.flatMap(([left, right]) => [
        [left, right],
        [right, left],
      ])) {
        const value = one?.field === field && other ? given[other.field]?.known[other.member] : undefined;
        if (value !== undefined && one) body[one.member] = value;
      }
      const parents = Object.fromEntries(
        ties.flatMap(({ field: tied, member, own }) => (tied === field && given[own] ? [[member, given[own]] as const] : [])),
      );
      const meant = { ...asked.get(field), body, parents, for: wanted.caller ?? wanted.for };
      given[field] = await make(targetOf(session, endpoint, field), meant, isAloneBelow(session, endpoint, field));
    }
    return given;
  } catch (error) {
    if (!(error instanceof Untestable)) throw error;
    return wanted.parents ?? {};
  }
}

/** Whether no two rows may refer to the same by a field: a fount has one proof that is out. */
export function isAloneBelow({ model }: Session, endpoint: Endpoint, field: string): boolean {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const isReference = entryOf(resource?.fields, field)?.ref !== undefined;
  return isReference && resource?.unique.some(({ fields }) => fields.length === 1 && fields[0] === field) === true;
}

/** A reference whose row has to refer to what the new row itself refers to: a voucher of the pilot who flies on it. */
interface OwnTie {
  readonly field: string;
  readonly member: string;
  readonly own: string;
}

const isBelow = (ties: readonly OwnTie[], field: string) => ties.some((tie) => tie.field === field);

/** What the errors of a creation ask to be alike of a row that is referred to and of the new row itself. */
function ownTies(session: Session, endpoint: Endpoint): OwnTie[] {
  const { model } = session;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const refOf = (name: string) => entryOf(resource?.fields, name)?.ref;
  return ownRulesAt(model, endpoint).flatMap(({ rule }): OwnTie[] => {
    const reads = rule.if ? model.expressions.readsOf(rule.if, endpoint.operation) : [];
    if (!rule.if || !reads.every(({ root, path }) => root === 'next' && path.length === 1)) return [];
    const [through, ...more] = readThrough(reads.filter(({ follows }) => follows)) ?? [];
    const own = reads.flatMap(({ path: [name = ''], follows }) => (follows || name === through?.field ? [] : [name]));
    const [beside] = own;
    if (!through || more.length > 0 || beside === undefined || own.length > 1 || refOf(beside) === undefined) return [];
    const { field, member } = through;
    const isAlike = entryOf(model.resource(refOf(field) ?? '')?.fields, member)?.ref === refOf(beside);
    const rows = (value: string) => ({ [field]: { [member]: value } });
    const isSparedAs = (value: string) => isSpared(session, endpoint.operation, rule.if!, rows(value), { [beside]: 'one' });
    return isAlike && isSparedAs('one') && !isSparedAs('other') ? [{ field, member, own: beside }] : [];
  });
}

/** What a reference is to name for the rules that hold it against who asks. */
function namedHere(
  session: Session,
  endpoint: Endpoint,
  field: string,
  { named, caller, for: asking }: WantedRow,
): Json | undefined {
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  return namedByReference(session, { resource, field }, { named, asking: caller ?? asking });
}

/** The references of a new row: those that it always has, and those that a whole one has. */
function referencesOf(session: Session, endpoint: Endpoint, { style = 'plain' }: WantedRow): string[] {
  const resource = session.model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const references = (resource ? entriesOf(resource.fields) : []).filter(([, { ref }]) => ref !== undefined);
  return references.map(([name]) => name).filter((name) => style !== 'plain' || isAsked(session, endpoint, name));
}

/** What a child refers to, the member of it, and the field of the row that it is made with, which have to be alike. */
interface ChildTie {
  readonly target: string;
  readonly member: string;
  readonly shared: string;
}

/** What the errors of children's own creations ask of what they refer to, beside the row that they are made with. */
function childTies(session: Session, endpoint: Endpoint): ChildTie[] {
  const { model } = session;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  return (resource ? entriesOf(resource.fields) : []).flatMap(([, field]) => {
    const { children } = field;
    const child = children && takesChildren(field) ? model.resource(children.resource) : undefined;
    if (!children || !child) return [];
    const operation = `create ${child.name}`;
    const rules = model.refusals.all().filter(({ rule }) => rule.if !== undefined && rule.on?.includes(operation) !== false);
    return rules.flatMap(({ rule }): ChildTie[] => {
      if (!rule.if) return [];
      const reads = readThrough(model.expressions.readsOf(rule.if, operation));
      const pair = reads && pairOf(session, operation, rule.if, reads)[0];
      const own = pair?.find(({ field: name }) => name === children.field);
      const other = pair?.find(({ field: name }) => name !== children.field);
      const target = other && entryOf(child.fields, other.field)?.ref;
      return own && other && target !== undefined ? [{ target, member: other.member, shared: own.member }] : [];
    });
  });
}

/** The rows that what a child refers to has to refer to as well, as the row that it is made with does. */
export function tiedThrough(
  session: Session,
  endpoint: Endpoint,
  target: string,
  parents: Readonly<Record<string, TrialRow>>,
): Readonly<Record<string, TrialRow>> {
  return Object.fromEntries(
    childTies(session, endpoint).flatMap(({ target: meant, member, shared }) => {
      const row = meant === target ? parents[shared] : undefined;
      return row ? [[member, row] as const] : [];
    }),
  );
}

/** The members that a condition reads of what references lead to; nothing where it reads anything else. */
function readThrough(reads: ReturnType<Session['model']['expressions']['readsOf']>): ReadThrough[] | undefined {
  const through = reads.flatMap(({ root, path: [field, ...more], follows = [] }): ReadThrough[] => {
    const [member, ...further] = follows;
    const isDirect = root === 'next' && more.length === 0 && further.length === 0;
    return isDirect && field !== undefined && member !== undefined ? [{ field, member }] : [];
  });
  return through.length === reads.length ? through : undefined;
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
function pairOf(session: Session, operation: string, rule: Expression, reads: readonly ReadThrough[]) {
  const [left, right, ...more] = reads;
  if (!left || !right || more.length > 0 || left.field === right.field) return [];
  const rows = (value: string) => ({ [left.field]: { [left.member]: 'one' }, [right.field]: { [right.member]: value } });
  const isPair = isSpared(session, operation, rule, rows('one')) && !isSpared(session, operation, rule, rows('other'));
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
  operation: string,
  rule: Expression,
  rows: Readonly<Record<string, ShownFields>>,
  beside: ShownFields = {},
): boolean {
  const next = { ...beside, ...Object.fromEntries(Object.keys(rows).map((field) => [field, field])) };
  const context = { next, operation, follow: rowsById(rows) };
  const evaluated = model.expressions.evaluate(rule, operation, { context });
  return typeof evaluated === 'object' && evaluated.value === false;
}
