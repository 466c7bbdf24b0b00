import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { leftOutOf, neverShownTo } from '../../../parts/left-out.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import type { Shape } from '../../../parts/shape.ts';
import { machinesOf } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { FactName } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { rowsShown, type ShownFields } from '../../model/row-shown.ts';
import type { Misfit } from '../../model/schemas.ts';
import type { Observed, Observer } from '../../session/observer.ts';
import { oneLine } from '../../values/difference.ts';

/** Every row that is shown has the fields, types, formats and values that its resource states, and nothing that its reader must not see. */
export const shownShapes: Observer = {
  name: 'resources/shown shapes',
  *observe(exchange, model) {
    const found = rowsShown(model, exchange);
    const rows = ownRows(exchange, model, found);
    if (found && rows.length > 0) yield observeResource(model, found.resource, rows);
    for (const row of rows) yield* observeRow(exchange, model, found?.resource ?? '', row, 0);
  },
};

/** A row of a resource has some of its fields. */
function observeResource(model: Model, name: string, rows: readonly ShownFields[]): Observed {
  const stranger = rows.find((row) => entriesOf(model.resource(name)?.fields).every(([field]) => row[field] === undefined));
  const flaw = stranger &&
    Object.keys(stranger).length > 0 && { promised: `a ${name}, with its fields`, seen: oneLine(stranger) };
  return { fact: { kind: 'resources', subject: 'service' }, reason: `${name} shown`, judgement: flaw || undefined };
}

/** The rows that are shown, without those that other cases have made: only where they were made could what is wrong be shown again. */
function ownRows(exchange: TrialExchange, model: Model, found: ReturnType<typeof rowsShown>): readonly ShownFields[] {
  const { resource, rows } = found ?? { resource: '', rows: [] };
  const field = model.identifierField(resource);
  return rows.filter((row) => !exchange.isOthers?.(resource, row[field] ?? null));
}

const depthMax = 3;

function* observeRow(exchange: TrialExchange, model: Model, name: string, row: ShownFields, depth: number): Iterable<Observed> {
  const resource = model.resource(name);
  if (!resource || !isStated(resource.fields) || depth > depthMax) return;
  const misfits = model.schemas.of(shapeOf(name), 'shown')(row);
  const sight = sightOf(exchange, model);
  for (const [field, stated, facts] of fieldsOf(resource)) {
    yield* observePresence(sight, facts.required, stated, row);
    const value = row[field];
    if (value === undefined || stated.shape.standing === 'open') continue;
    if (stated.ref !== undefined && isMap(value)) {
      yield* observeExpanded(exchange, model, name, stated, value, depth);
      continue;
    }
    const own = misfits.filter((misfit) => misfit.path[0] === field && !isExpandedBelow(model, stated, row, misfit));
    yield* observeValue(facts.values, field, value, own);
    yield* observeInside(exchange, model, stated, value, depth);
  }
  const unstated = Object.keys(row).filter((field) => entryOf(resource.fields, field) === undefined);
  const isFine = unstated.length === 0 || resource.additionalProperties;
  const flaw = { promised: `a ${name} has no fields but the stated ones`, seen: unstated.join(', ') };
  yield { fact: { kind: 'field names', subject: name }, reason: 'shown', judgement: isFine ? undefined : flaw };
}

const shapes = new Map<string, { readonly resource: string }>();

/** One object for each resource, so that its validator is compiled once. */
function shapeOf(resource: string): { readonly resource: string } {
  const known = shapes.get(resource) ?? { resource };
  shapes.set(resource, known);
  return known;
}

/** The names of what is promised of one field. */
interface FieldFacts {
  readonly required: FactName;
  /** One for each kind of what a value shows. */
  readonly values: readonly FactName[];
}

const fieldFacts = new WeakMap<Resource, readonly (readonly [name: string, field: Field, facts: FieldFacts])[]>();

/** The fields of a resource with what is promised of each. The names are made once: a page shows the same fields in each of its rows. */
function fieldsOf(resource: Resource): readonly (readonly [name: string, field: Field, facts: FieldFacts])[] {
  const known = fieldFacts.get(resource);
  if (known) return known;
  const made = entriesOf(resource.fields).map(([name, field]) => {
    const subject = `${resource.name}.${name}`;
    const values = kinds.map(([kind]) => ({ kind, subject }));
    return [name, field, { required: { kind: 'required flags', subject }, values }] as const;
  });
  fieldFacts.set(resource, made);
  return made;
}

/** Who sees an answer, and what the rules leave out of it. */
interface Sight {
  readonly exchange: TrialExchange;
  readonly model: Model;
  readonly reader: TrialCaller | undefined;
  readonly leftOut: ReadonlySet<Field>;
  readonly neverShown: ReadonlySet<Field>;
}

function sightOf(exchange: TrialExchange, model: Model): Sight {
  const reader = model.readerOf(exchange);
  const about = { user: reader?.user };
  return { exchange, model, reader, leftOut: leftOutOf(model.spec, about), neverShown: neverShownTo(model.spec, about) };
}

/** What has to be there is, and what the reader must not see is not. */
function* observePresence(
  { exchange, model, reader, leftOut, neverShown }: Sight,
  fact: FactName,
  field: Field,
  row: ShownFields,
): Iterable<Observed> {
  const isThere = row[field.name] !== undefined;
  // What a rule leaves out is not revealed either.
  const isRevealing = field.reveal === 'once' && mayReveal(exchange, field) && !neverShown.has(field);
  if (isNeverShown(model.spec, field, reader) && !isRevealing) {
    const flaw = { promised: `${field.name} is not shown to ${reader?.user || 'whoever asks'}`, seen: oneLine(row[field.name]) };
    yield { fact, reason: 'hidden', judgement: isThere ? flaw : undefined };
    return;
  }
  const isLeftOut = leftOut.has(field);
  if (isRevealing && !isLeftOut && isFirst(exchange) && isReadable(field, reader) && statedValue(field.required) === true) {
    const flaw = { promised: `${field.name} is shown in the answer that makes it`, seen: 'it is not there' };
    yield { fact, reason: 'revealed', judgement: isThere ? undefined : flaw };
  }
  if (statedValue(field.required) !== true || isRevealing || isLeftOut) return;
  const isEmpty = !isThere || (row[field.name] === null && !takesNull(field));
  yield {
    fact,
    reason: 'shown',
    judgement: isEmpty ? { promised: `${field.name} is always there`, seen: oneLine(row[field.name]) } : undefined,
  };
}

/** Whether an answer is where a secret is made: with its row, or by an operation that sets it anew; where it is not known what is done, it may be. */
function mayReveal({ endpoint, status }: TrialExchange, { set }: Field): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  if (effect?.verb === 'read' || effect?.verb === 'list') return false;
  if (effect?.verb !== 'update' && effect?.verb !== 'replace' && effect?.verb !== 'transition')
    return status !== 200 || effect?.verb !== 'upsert';
  const words = [endpoint?.operation ?? '', effect.verb, effect.verb === 'transition' ? effect.transition : ''];
  return words.some((word) => Object.hasOwn(set, word));
}

/** Whether an answer is that of what made a row, and not the same one again to a request that came twice. */
function isFirst({ endpoint, sent }: TrialExchange): boolean {
  const header = endpoint?.idempotency?.header.toLowerCase();
  return (
    endpoint !== undefined &&
    statedValue(endpoint.does)?.verb === 'create' &&
    (header === undefined || sent.headers[header] === undefined)
  );
}

/** Whether a reader may see what is revealed once. */
function isReadable({ writeOnly, stored, visible }: Field, reader: TrialCaller | undefined): boolean {
  return !writeOnly && stored && (visible === undefined || (reader !== undefined && visible.includes(reader.user)));
}

function takesNull(field: Field): boolean {
  const shape = statedValue(field.shape);
  return shape === undefined || JSON.stringify(shape).includes('"null"') || shape.type === undefined;
}

/** An expanded reference is the row that it names, or the part of it that is stated. */
function* observeExpanded(
  exchange: TrialExchange,
  model: Model,
  name: string,
  field: Field,
  value: ShownFields,
  depth: number,
): Iterable<Observed> {
  const isShapeOwn = typeof field.show === 'object';
  const asked = askedWhole(exchange, field.name);
  const fact = { kind: 'types', subject: `${name}.${field.name}` };
  if (isShapeOwn && asked !== 'this one') {
    const [wrong] = model.schemas.of(field.show, 'shown')(value);
    yield {
      fact,
      reason: 'shown',
      judgement: wrong && { promised: `${field.name} as it is shown: ${wrong.message}`, seen: oneLine(value) },
    };
    const shown = (field.show as Shape).resource;
    if (typeof shown === 'string') yield* observeRow(exchange, model, shown, value, depth + 1);
  } else if (field.show === 'expand' || asked !== 'none') {
    if (field.ref !== undefined) yield* observeRow(exchange, model, field.ref, value, depth + 1);
  } else yield { fact, reason: 'shown', judgement: { promised: `${field.name} is an identifier`, seen: oneLine(value) } };
}

/** Whether a request asks for a reference to be shown whole, or for others: in its query, or in a member of its body. */
function askedWhole({ endpoint, sent }: TrialExchange, name: string): 'this one' | 'others' | 'none' {
  const { parameter, member } = endpoint?.expand ?? {};
  const inQuery = parameter === undefined ? undefined : sent.query[parameter];
  const inBody = member !== undefined && isMap(sent.json) ? sent.json[member] : undefined;
  if (inQuery === undefined && inBody === undefined) return 'none';
  const paths = [inQuery, inBody].flat().map((path) => asText(path ?? '').split(/[^\w-]/));
  return paths.some((path) => path.includes(name)) ? 'this one' : 'others';
}

/** Values that are resources themselves, alone or in a list. */
function* observeInside(exchange: TrialExchange, model: Model, field: Field, value: Json, depth: number): Iterable<Observed> {
  const shape = statedValue(field.shape);
  if (typeof shape?.resource === 'string' && isMap(value)) yield* observeRow(exchange, model, shape.resource, value, depth + 1);
  const envelope = field.children?.envelope;
  const list = envelope && isMap(value) ? value[envelope.items] : value;
  const items = field.children ? { resource: field.children.resource } : shape?.items;
  if (!isMap(items) || typeof items.resource !== 'string' || !Array.isArray(list)) return;
  for (const item of list as readonly Json[])
    if (isMap(item)) yield* observeRow(exchange, model, items.resource, item, depth + 1);
}

/** Whether what does not fit stands in a reference of a child that is shown as the row which it names: that is for the child to show. */
function isExpandedBelow(model: Model, { children }: Field, row: ShownFields, { path }: Misfit): boolean {
  const child = children && model.resource(children.resource);
  if (!children || !child) return false;
  const at = (children.envelope ? 1 : 0) + 2;
  const isReference = entryOf(child.fields, asText(path[at] ?? ''))?.ref !== undefined;
  const value = path.slice(0, at + 1).reduce<Json | undefined>((inner, step) => memberOf(inner, step), row);
  return isReference && isMap(value);
}

function memberOf(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(step)];
  return isMap(value) ? value[asText(step)] : undefined;
}

function* observeValue(facts: readonly FactName[], field: string, value: Json, misfits: readonly Misfit[]): Iterable<Observed> {
  for (const [at, fact] of facts.entries()) {
    const wrong = misfits.find((misfit) => kinds[at]?.[1](misfit));
    const flaw = wrong && { promised: `${[field, ...wrong.path.slice(1)].join('.')} ${wrong.message}`, seen: oneLine(value) };
    yield { fact, reason: 'shown', judgement: flaw };
  }
}

/** Which kind of fact a keyword of JSON Schema speaks of. */
const kinds: readonly (readonly [kind: string, speaksOf: (misfit: Misfit) => boolean])[] = [
  ['types', ({ keyword }) => keyword === 'type'],
  ['formats', ({ keyword }) => keyword === 'format'],
  ['allowed values', ({ keyword }) => keyword !== 'type' && keyword !== 'format'],
];

/** A state is one of its machine's. */
export const shownStates: Observer = {
  name: 'states/shown states',
  *observe(exchange, model) {
    const found = rowsShown(model, exchange);
    for (const machine of found ? machinesOf(model.spec.states, found.resource) : []) {
      const states = statedValue(machine.states);
      if (!found || !states || machine.others) continue;
      for (const row of ownRows(exchange, model, found)) {
        const state = row[machine.field];
        if (state === undefined) continue;
        const isKnown = typeof state === 'string' && states.includes(state);
        const flaw = { promised: `a ${found.resource} is ${states.join(', ')}`, seen: oneLine(state) };
        yield { fact: { kind: 'states', subject: machine.key }, reason: 'shown', judgement: isKnown ? undefined : flaw };
      }
    }
  },
};
