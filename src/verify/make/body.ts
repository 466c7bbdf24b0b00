import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { sentAs, takenOf } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { along, withPlaced } from '../../parts/reach.ts';
import type { Shape } from '../../parts/shape.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { SampleStyle, TrialRow, WantedRow } from '../exchange/row.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { askedKinds } from '../model/asked-kinds.ts';
import { changeKeepsRules, hasRules, isThere, sentKeepsRules } from '../model/field-rules.ts';
import { withoutNulls } from '../model/fields.ts';
import { holdsAny, isSendable, mayHold } from '../model/own-body.ts';
import type { StatedRefusal } from '../model/refusals.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { NoValue } from '../values/scalars.ts';
import { arbitraryValuesOf, type Draft, Reference } from '../values/values.ts';
import { keepImmutable, withoutUnions, withUnique } from './body-fields.ts';
import { namingIn } from './entrusted.ts';
import { fewCombinations } from './few-combinations.ts';
import { drawnShape, RowsReferred } from './links.ts';
import { mendedBody } from './mended-body.ts';
import { readsThrough, refusedByOwn } from './own-rules.ts';
import { timelyFor } from './timely.ts';

export interface Drafting extends WantedRow {
  /** The fields that the path binds, and the body leaves out. */
  readonly bound: ReadonlySet<string>;
  /** What stands in the path, where that is known already. */
  readonly path?: Readonly<Record<string, Symbolic>>;
  /** Makes a row of a resource; gives its identifier. */
  readonly make: (resource: string, style: SampleStyle) => Promise<Symbolic>;
  /** Where the row is told of what happens, and an address of ours. */
  readonly heard?: { readonly field: string; readonly address: Symbolic };
}

/** So often a body is drawn that the service's own rules would refuse. */
const draws = 16;
/** So many are taken as they come; then what is refused is mended. */
const drawsBefore = 2;
/** What could not be mended so often cannot be: what stands in the path, or is there already, is in the way. */
const mendingsMost = 2;
/** So many times are tried with one body. */
const timesOfOne = 5;

/** A valid body for an endpoint, with rows made for what it refers to; nothing where it takes none. @throws {Untestable} */
export async function draftBody(session: Session, endpoint: Endpoint, drafting: Drafting): Promise<Symbolic | undefined> {
  const { model } = session;
  const shape = model.requestShape(endpoint);
  if (shape.standing === 'none') return undefined;
  if (!isStated(shape)) throw new Untestable(`what ${endpoint.key} takes is open`);
  const { style = 'plain', caller, path = {} } = drafting;
  // What a row depends on is drawn as widely as the row itself; as little as it takes is refused the least.
  const styles: readonly SampleStyle[] = style === 'full' && readsThrough(model, endpoint) ? ['full', 'plain'] : ['plain'];
  let last: Symbolic | undefined;
  /** The last that keeps the rules over several fields, whatever else refuses it. */
  let kept: Symbolic | undefined;
  let unmended = 0;
  // What keeps a rule over several fields, or is refused by none of the service's own, is found among many values, not by the plainest.
  const ruled = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const timely = timelyFor(session, endpoint, drafting);
  const most = timely?.draws ?? draws;
  let wasRefused = ruled !== undefined && hasRules(ruled);
  const styleOf = (draw: number): SampleStyle => {
    if (wasRefused) return draw % 2 === 0 ? style : 'full';
    return draw === most - 1 ? 'plain' : style;
  };
  const heard = drafting.changes && (await session.heardAt(ruled?.name ?? ''));
  const asked = heard ? { ...drafting, heard } : drafting;
  for (const referred of styles) {
    const made = new RowsReferred((resource) => drafting.make(resource, referred));
    let draft: Draft = null;
    for (let draw = 0; draw < most; draw++) {
      // Where times are gone through, what stands beside them is seldom what is in the way.
      if (!timely?.hasTimes || draw % timesOfOne === 0 || draw >= most - 2)
        draft = drawn(session, endpoint, shape.value, styleOf(draw));
      const timed = timely ? { ...asked, body: { ...timely.times(draw, drafting.body), ...drafting.body } } : asked;
      const whole = await filled(isDraftMap(draft) ? wanted(session, endpoint, draft, timed) : draft, made);
      last = timely ? timely.inside(whole, draw, drafting.body) : whole;
      const sent = resolve(last, session.run);
      if (keepsItsRules(session, endpoint, sent, drafting.changes)) {
        kept = last;
        const refused = refusedByOwn(session, endpoint, { path, json: last }, caller);
        // What is refused for the row above it, or for who asks, is so whatever is sent.
        const isOther = refused?.rule.if !== undefined && refused.rule.if !== drafting.meant;
        const isOfBody = isOther && readsBody(session, endpoint, refused, drafting.bound);
        if (!isOfBody && !timely?.closes(sent, draw)) return last;
        // What is as ordinary as can be is the same each time.
        wasRefused = true;
        // Times against now are gone through already.
        const isTimed =
          timely?.hasTimes && refused?.rule.if && model.expressions.reads(refused.rule.if, endpoint.operation, 'now');
        const isMendable = isOfBody && draw >= drawsBefore && !isTimed && unmended < mendingsMost;
        const mended = isMendable ? mendedBody(session, endpoint, { path, json: last, caller }, drafting) : undefined;
        if (isMendable && !mended) unmended += 1;
        if (unmended >= mendingsMost && !timely) return last;
        if (mended && !timely?.closes(resolve(mended, session.run), draw)) return mended;
      }
      made.again();
    }
  }
  return kept ?? last;
}

/** Whether a body keeps the rules over several fields, by itself and with what is there, as far as that can be told. */
function keepsItsRules({ model }: Session, endpoint: Endpoint, sent: Json, changes: TrialRow | undefined): boolean {
  const isBroken = changes?.fields && changeKeepsRules(model, endpoint, changes.fields, sent) === 'no';
  if (isBroken || sentKeepsRules(model, endpoint, sent) === 'no') return false;
  // In a form an empty text says that there is none.
  return !(endpoint.emptySent === 'removes' && holdsEmpty(sent));
}

/** Whether an error of the service's own reads anything that is sent in a body. */
function readsBody({ model }: Session, { operation }: Endpoint, { rule }: StatedRefusal, bound: ReadonlySet<string>): boolean {
  const reads = rule.if ? model.expressions.readsOf(rule.if, operation) : [];
  return reads.some(({ root, path: [name = ''] }) => root === 'request' || (root === 'next' && !bound.has(name)));
}

function holdsEmpty(value: Json): boolean {
  if (value === '') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsEmpty);
}

function drawn(session: Session, endpoint: Endpoint, shape: Shape, style: SampleStyle): Draft {
  try {
    return session.chance.value(arbitraryValuesOf(session.model.spec, drawnShape(session.model, endpoint, shape), style));
  } catch (error) {
    if (error instanceof NoValue) throw new Untestable(`no body could be made for ${endpoint.key}: ${error.message}`);
    throw error;
  }
}

/** A value of a shape, with rows made for what it refers to. @throws {Untestable} */
export async function draftedValue(
  session: Session,
  shape: Shape,
  make: (resource: string) => Promise<Symbolic>,
): Promise<Symbolic> {
  try {
    const draft = session.chance.value(arbitraryValuesOf(session.model.spec, shape, 'plain'));
    return await filled(draft, new RowsReferred(make));
  } catch (error) {
    if (error instanceof NoValue) throw new Untestable(`no value could be made: ${error.message}`);
    throw error;
  }
}

type DraftMap = { readonly [key: string]: Draft | Symbolic };

/** What is wanted is said by fields, and sent where the body holds these, by the names that their members have. */
function wanted(
  session: Session,
  endpoint: Endpoint,
  draft: DraftMap,
  drafting: Drafting,
  path = endpoint.takes?.path ?? [],
): DraftMap {
  const [first, ...rest] = path;
  if (first !== undefined) {
    const inner = draft[first];
    if (inner === undefined || !isDraftMap(inner as Draft)) return draft;
    return bareMap<Draft | Symbolic>({
      ...draft,
      [first]: wanted(session, endpoint, inner as DraftMap, drafting, rest) as Draft,
    });
  }
  const takes = endpoint.takes && { ...endpoint.takes, path: [] };
  // What is taken of a map of drafts is one.
  const fields = withoutNulls(session.model.spec, endpoint, takenOf({ ...(takes && { takes }) }, draft) as DraftMap);
  return bareMap(sentAs(endpoint, withWanted(session, endpoint, fields, drafting)));
}

function withWanted(
  session: Session,
  endpoint: Endpoint,
  draft: DraftMap,
  { bound, body, parents, changes, caller, named, heard, for: asking = caller }: Drafting,
): DraftMap {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const name = resourceOfEffect(effect) ?? '';
  const out: Record<string, Draft | Symbolic> = bareMap({});
  const isByRule = endpoint.request.standing === 'open' || holdsAny(endpoint);
  const others = isByRule ? writtenByOthers(session, name, asking) : none;
  for (const [field, value] of Object.entries(draft)) if (!bound.has(field) && !others.has(field)) out[field] = value;
  if (effect?.verb !== undefined && ['create', 'upsert', 'replace', 'update'].includes(effect.verb)) {
    for (const field of model.uniqueFields(name)) {
      const isAbsentOptional = out[field] === undefined;
      if (!isAbsentOptional && !(out[field] instanceof Reference))
        out[field] = model.freshValue(name, field) ?? out[field] ?? null;
      // What is left out has its default, and so would the next.
      const isDefaulted = isNew(effect.verb) && entryOf(model.resource(name)?.fields, field)?.default !== undefined;
      if (!isAbsentOptional || !isDefaulted || bound.has(field) || others.has(field) || !mayHold(model, endpoint, field))
        continue;
      const fresh = model.freshValue(name, field);
      if (fresh !== undefined) out[field] = fresh;
    }
  }
  if (effect?.verb === 'update') {
    withoutUnions(session, name, out);
    // What a row is called stays as it is.
    delete out[model.identifierField(name)];
  }
  if (heard && out[heard.field] !== undefined) out[heard.field] = heard.address;
  if (effect?.verb === 'transition') withUnique(session, endpoint, effect, out);
  Object.assign(out, namingIn(session, endpoint, out, { named, asking }));
  // Whom a row named when it was made it names for good, whoever asks.
  if (changes) keepImmutable(session, name, changes, out);
  const { subscribers } = statedValue(model.spec.events.delivery)?.push ?? {};
  if (subscribers?.resource === name && subscribers.events !== undefined) {
    const drawn = along<unknown>(out, subscribers.events);
    if (drawn !== undefined) Object.assign(out, withPlaced(out, subscribers.events, askedKinds(model, ['*']) ?? drawn));
  }
  for (const [field, row] of Object.entries(parents ?? {}))
    if (Object.hasOwn(out, field) || (isNew(effect?.verb) && !bound.has(field) && isSendable(model, name, field)))
      out[field] = row.id;
  const wanted = new Set(Object.keys(body ?? {}));
  const whole = subscribers?.resource === name ? within(out, body ?? {}) : { ...out, ...body };
  if (writesRow(effect?.verb)) Object.assign(whole, fewCombinations(session, name, whole, { bound, wanted, changes }));
  return bareMap(withChoices(session, endpoint, whole, { wanted, changes }));
}

/** What is wanted inside of maps that were drawn, with what was drawn beside it. */
function within(drawn: DraftMap, wanted: DraftMap): DraftMap {
  const out: Record<string, Draft | Symbolic> = { ...drawn };
  for (const [name, value] of Object.entries(wanted)) {
    const held = out[name];
    const isInside = held !== undefined && isDraftMap(held as Draft) && isDraftMap(value as Draft);
    // What is merged of maps of drafts is one.
    out[name] = isInside ? (within(held as DraftMap, value as DraftMap) as Draft) : value;
  }
  return out;
}

/** Of fields of which exactly one is there, one: what is wanted, else what was drawn, else any. A patch leaves the others of the row as they are. */
function withChoices(
  session: Session,
  endpoint: Endpoint,
  draft: DraftMap,
  { wanted, changes }: { readonly wanted: ReadonlySet<string>; readonly changes: TrialRow | undefined },
): DraftMap {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  if (!resource || resource.choices.length === 0 || !writesRow(effect?.verb)) return draft;
  if (effect?.verb === 'update') {
    const others = resource.choices.flatMap(({ fields }) => fields.filter((name) => !isThere(changes?.fields?.[name])));
    return Object.fromEntries(Object.entries(draft).filter(([name]) => wanted.has(name) || !others.includes(name)));
  }
  const out: Record<string, Draft | Symbolic> = { ...draft };
  for (const { fields } of resource.choices) {
    const chosen = fields.find((name) => wanted.has(name)) ?? fields.find((name) => isThere(out[name])) ?? fields[0];
    // What somebody wants to be so, and breaks the rule with, is for them to say.
    for (const name of fields) if (name !== chosen && !wanted.has(name)) delete out[name];
    const shape = chosen === undefined ? undefined : statedValue(entryOf(resource.fields, chosen)?.shape);
    if (chosen !== undefined && shape && !isThere(out[chosen]))
      out[chosen] = session.chance.value(arbitraryValuesOf(model.spec, shape, 'plain'));
  }
  return out;
}

const none: ReadonlySet<string> = new Set();

/** The fields that some users write, and not this caller: no document says whether what others send of them is refused or passed over. */
function writtenByOthers({ model }: Session, name: string, caller: TrialCaller | undefined): ReadonlySet<string> {
  const resource = model.resource(name);
  const fields = resource ? entriesOf(resource.fields) : [];
  const theirs = fields.filter(
    ([, { writable, required }]) =>
      writable !== undefined && !writable.includes(caller?.user ?? '') && statedValue(required) !== true,
  );
  return new Set(theirs.map(([field]) => field));
}

/** Whether a body is of the fields of a row: what a transition takes is its own. */
const writesRow = (verb: string | undefined) => isNew(verb) || verb === 'update' || verb === 'replace';

const isNew = (verb: string | undefined) => verb === 'create' || verb === 'upsert';

async function filled(draft: Draft | DraftMap, made: RowsReferred): Promise<Symbolic> {
  if (draft instanceof Reference) return made.one(draft.resource);
  if (Array.isArray(draft)) {
    const items: Symbolic[] = [];
    for (const item of draft as readonly Draft[]) items.push(await filled(item, made));
    return items;
  }
  if (!isDraftMap(draft)) return draft as Json;
  const out: Record<string, Symbolic> = bareMap({});
  for (const [name, item] of Object.entries(draft)) out[name] = await filled(item as Draft, made);
  return out;
}

/** A map of drafts, and nothing that stands for a value of a run. */
function isDraftMap(draft: Draft | DraftMap): draft is DraftMap {
  return isMap(draft as Json) && [Object.prototype, null].includes(Object.getPrototypeOf(draft));
}
