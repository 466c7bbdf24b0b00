import { takenOf } from '../../parts/answers.ts';
import { followingBounds } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { childrenTakerOf, requestShape, sentShape, takesChildren } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { freePass } from '../callers/operation-access.ts';
import type { Exchange, Refusal, Value } from '../exchange/exchange.ts';
import { isHidden } from '../exchange/visibility.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { Act, ChangedChild, Found, Models, SentChild, SentRows, TakenRow, Work } from './act.ts';
import { compileMissingReference, invalid, isFields, withoutKeys } from './body.ts';
import {
  type CompilePatch,
  compileChanged,
  compileMade,
  missingOf,
  type TakingChildren,
  violationOfChild,
} from './children-sent.ts';
import { identifierText, type RowModel } from './model.ts';
import { compileChildrenFound, readingOfChildren } from './representation.ts';
import { takenAlong } from './sent-members.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** What a change of a row comes to, or why it is refused. */
type Taken = TakenRow | { readonly refusal: Refusal };

/** Makes an act take the children that are sent with its row, of which the row itself knows nothing. */
type WithChildren = (act: Act) => Act;

/** Compiles the taking of children by a change of a row that is there; where none are taken, the act stays as it is. */
export function compileChildrenChanging(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
  compilePatch: CompilePatch,
): WithChildren {
  const effect = statedValue(endpoint.does);
  const taker = effect && childrenTakerOf(effect);
  const plans = [...model.fields.values()].flatMap((field) => {
    const child = field.children && models.get(field.children.resource);
    if (!child || !field.children || !taker || !takesChildren(field, taker)) return [];
    return [
      compilePlan({ name: field.name, children: field.children, child, model, endpoint, models, compilation }, compilePatch),
    ];
  });
  if (plans.length === 0) return (act) => act;
  const alone = compileAlone(endpoint, model, compilation);
  return (act) => ({
    ...act,
    take(work, exchange, found) {
      const own = act.take(work, alone(exchange), found);
      const planned = plans.map((plan) => plan(work, exchange, found));
      const refused = refusalOf(own, planned);
      if (refused || 'refusal' in own) return refused ?? own;
      const all = planned.flatMap(({ name, rows }) => (rows ? [[name, rows] as const] : []));
      return all.length === 0 ? own : { ...own, children: new Map(all) };
    },
  });
}

/** The exchange without the children in the body of an older version, which is held to that version's whole row. */
function compileAlone(endpoint: Endpoint, model: RowModel, { version }: ViewCompilation): (exchange: Exchange) => Exchange {
  const carry = version?.carries.resource(model.name);
  const names = new Set([...takenAlong(endpoint, model)].map((name) => carry?.newer(name)?.older ?? name));
  return (exchange) => {
    const { older } = exchange;
    if (!older || !isFields(older.body)) return exchange;
    return { ...exchange, older: { ...older, body: withoutKeys(older.body, names) } };
  };
}

/** What is wrong with the row and its children: first what was sent wrongly, then what it refers to. */
function refusalOf(own: Taken, planned: readonly Planned[]): { readonly refusal: Refusal } | undefined {
  const refusal = 'refusal' in own ? own.refusal : undefined;
  if (refusal && (refusal.inVersion || !['request.invalid', 'reference.missing'].includes(refusal.when ?? '')))
    return { refusal };
  const other = planned.find((one) => one.refusal)?.refusal;
  const wrong = planned.flatMap(({ violations }) => violations);
  if (refusal?.when === 'request.invalid')
    return { refusal: { ...refusal, violations: [...(refusal.violations ?? []), ...wrong] } };
  if (other) return { refusal: other };
  if (wrong.length > 0) return invalid(wrong);
  const missing = planned.flatMap((one) => one.missing);
  if (missing.length === 0) return refusal && { refusal };
  return { refusal: { when: 'reference.missing', violations: [...(refusal?.violations ?? []), ...missing] } };
}

/** What becomes of the children of a field, and what is wrong with what was sent of them. */
interface Planned {
  readonly name: string;
  readonly violations: readonly Violation[];
  readonly missing: readonly Violation[];
  /** Another reason why it is refused. */
  readonly refusal?: Refusal | undefined;
  /** Nothing where nothing becomes of them. */
  readonly rows?: SentRows | undefined;
}

type Plan = (work: Work, exchange: Exchange, found: Found) => Planned;

function compilePlan(taking: TakingChildren, compilePatch: CompilePatch): Plan {
  const { name, compilation, endpoint, model } = taking;
  const validate = compilation.validate(listAlone(taking), 'sent');
  const isWhole = statedValue(endpoint.does)?.verb !== 'update';
  const leftOut = compileLeftOut(taking);
  const look = compileElements(taking, compilePatch);
  const carry = isStated(endpoint.request) ? undefined : compilation.version?.carries.resource(model.name);
  const nothing: Planned = { name, violations: [], missing: [] };
  return (work, exchange, found) => {
    const older = carry && exchange.older;
    const known = older ? carry.newer(name) : undefined;
    // What its version does not see stays as it is.
    if (known && known.older === undefined) return nothing;
    const body = older ? older.body : (takenOf(endpoint, exchange.request) as Value);
    const sent = isFields(body) ? body[known?.older ?? name] : undefined;
    if (sent === undefined && !isWhole) return nothing;
    const misfits = validate(sent === undefined ? {} : { [name]: sent });
    if (misfits.length > 0) return { ...nothing, violations: misfits };
    const seen = look(work, exchange, found, Array.isArray(sent) ? sent : [], older !== undefined);
    if (seen.violations.length > 0 || seen.refusal) return { ...nothing, ...seen, rows: undefined };
    const rows = { ...seen.rows, gone: leftOut(work, found, seen.names) };
    const count = rows.made.length + rows.changed.length + rows.gone.length;
    if (count > followingBounds.acts) return { ...nothing, violations: [tooMany(name, count)] };
    return { ...nothing, ...seen, rows: count === 0 ? undefined : rows };
  };
}

/** The body that has this list alone, of which each is looked at by itself. */
function listAlone({ name, model, endpoint, compilation: { spec } }: TakingChildren): Shape {
  const field = model.fields.get(name);
  const { items: _each, ...list } = field ? sentShape(spec, field) : ({} as Shape);
  const required = isStated(endpoint.request) ? undefined : statedValue(requestShape(spec, endpoint))?.required;
  const isNeeded = Array.isArray(required) && required.includes(name);
  return { type: 'object', properties: { [name]: list }, required: isNeeded ? [name] : [] };
}

/** Compiles which of the children that the caller is shown its list leaves out: none, where it is not shown the field. */
function compileLeftOut({ name, children, child, model, compilation }: TakingChildren) {
  const { user, access } = compilation;
  const find = compileChildrenFound(children, model, child, compilation);
  const shown = access.fieldsShown(model.name, user);
  const field = model.fields.get(name);
  const isNever = field === undefined || isHidden(field, { user, reveals: false });
  return (work: Work, { row, fields }: Found, names: ReadonlySet<string>): string[] => {
    if (isNever || !row || !fields || shown?.(work.scope, fields)?.has(name) === false) return [];
    const ids = find(work, fields).rows.map((one) => String(one[child.identifier.field]));
    return ids.filter((id) => !names.has(id));
  };
}

function tooMany(name: string, count: number): Violation {
  const expected = `at most ${followingBounds.acts} that are made, changed or deleted at once`;
  return { in: 'body', path: `/${name}`, found: `${count} of them`, expected };
}

/** What the elements of a list come to, and the identifiers that they name. */
type LookAtElements = (
  work: Work,
  exchange: Exchange,
  found: Found,
  list: readonly Value[],
  isOlder: boolean,
) => Omit<Planned, 'name' | 'rows'> & { readonly rows: Omit<SentRows, 'gone'>; readonly names: ReadonlySet<string> };

function compileElements(taking: TakingChildren, compilePatch: CompilePatch): LookAtElements {
  const { name, child, children, model, compilation } = taking;
  const { field: identifier } = child.identifier;
  const isClients = statedValue(child.resource.identifier)?.generate === 'client';
  const carry = compilation.version?.carries.resource(child.name);
  // What is told in the words of a version has its name for the list.
  const listIn = compilation.version?.carries.resource(model.name)?.newer(name)?.older ?? name;
  const calledIn = (one: string) => carry?.newer(one)?.older ?? one;
  const reading = readingOfChildren(child, compilation);
  const missingReference = compileMissingReference(compilation);
  const make = compileMade(taking, carry);
  const change = compileChanged(taking, carry, compilePatch);

  /** The child of this row that has an identifier, and that the caller is shown. */
  function own(work: Work, { row, fields }: Found, id: string | undefined): Found | undefined {
    const stored = row && id !== undefined ? work.rows.get(child.name, id) : undefined;
    if (!stored) return undefined;
    const its = child.parse(stored);
    if (identifierText(its[children.field]) !== identifierText(fields?.[model.identifier.field])) return undefined;
    return reading.isFree || reading.allows(work.scope, its) ? { row: stored, fields: its, pass: freePass } : undefined;
  }

  return (work, exchange, found, list, isOlder) => {
    const [made, changed, names]: [SentChild[], ChangedChild[], Set<string>] = [[], [], new Set()];
    const [violations, missing]: [Violation[], Violation[]] = [[], []];
    let refusal: Refusal | undefined;
    for (const [index, item] of list.entries()) {
      const sent = isFields(item) ? item[isOlder ? calledIn(identifier) : identifier] : undefined;
      const id = identifierText(sent);
      const known = sent === undefined ? undefined : own(work, found, id);
      if (id !== undefined && names.has(id)) violations.push(wrongName(taking, index, sent, 'each of them once'));
      else if (known?.row && isFields(item)) {
        const told = change(work, exchange, known, item, isOlder);
        if (told.changed) changed.push({ index, id: known.row.id, take: told.changed });
        violations.push(...(told.violations ?? []).map((one) => violationOfChild(name, index, one)));
        missing.push(...(told.missing ?? []).map((one) => violationOfChild(name, index, one)));
        refusal ??= told.refusal && placed(told.refusal, told.refusal.inVersion ? listIn : name, index);
      } else if (sent !== undefined && !isClients) {
        violations.push(wrongName(taking, index, sent, `the identifier of a ${child.name} of this ${model.name}`));
      } else {
        const one = make(item, exchange, isOlder);
        violations.push(...one.violations.map((each) => violationOfChild(name, index, each)));
        if (one.violations.length === 0) made.push({ index, fields: one.fields });
      }
      if (id !== undefined) names.add(id);
    }
    missing.push(...missingOf(name, made, (row) => missingReference(work, child, row, undefined)?.violations ?? []));
    return { violations, missing, refusal, names, rows: { made, changed } };
  };
}

function wrongName({ name, child }: TakingChildren, index: number, sent: Value, expected: string): Violation {
  const path = `/${child.identifier.field}`;
  return violationOfChild(name, index, { in: 'body', path, found: describeValue(sent), expected });
}

function placed(refusal: Refusal, name: string, index: number): Refusal {
  const { violations } = refusal;
  return { ...refusal, ...(violations && { violations: violations.map((one) => violationOfChild(name, index, one)) }) };
}
