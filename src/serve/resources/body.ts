import { below } from '../../document/pointer.ts';
import { takenOf } from '../../parts/answers.ts';
import { compileDefaults } from '../../parts/defaults.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { requestShape } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Reader } from '../../store/store.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { warn } from '../exchange/warn.ts';
import { Bare, withoutPrototype } from '../http/json.ts';
import type { Validate } from '../http/validation.ts';
import { describeValue, sort, type Violation } from '../http/violation.ts';
import { refuse, type Work } from './act.ts';
import type { Locator } from './locate.ts';
import type { RowModel } from './model.ts';
import { boundValue } from './path-rows.ts';
import { compileReferences, type FoundReference } from './references.ts';
import { compileReadOnlySent, droppedAlone, shapeAlone, takenAlong, withoutStated } from './sent-members.ts';
import { isMadeUpWhereUnsent } from './stand-in.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** What a caller sent of a resource, ready to become a row: what it cannot write dropped, what the path binds set, defaults applied. */
export type SentRow = { readonly fields: Fields } | { readonly refusal: Refusal };

/** Compiles the taking of a body for create, replace and upsert. */
export function compileSent(
  endpoint: Endpoint,
  model: RowModel,
  locator: Locator,
  compilation: ViewCompilation,
): (exchange: Exchange, before?: Fields) => SentRow {
  const { spec } = compilation;
  if (endpoint.takes) return compileEnclosed(endpoint, model, locator, compilation);
  // What is sent of a row that is there is held to the rules with the rest of it.
  const rules = compilation.standIn ? undefined : model.rules;
  const taken = takenAlong(endpoint, model);
  const shape: Shape = shapeAlone(endpoint, shapeSent(endpoint, model, compilation), taken);
  const isOwnShape = isStated(endpoint.request);
  const validate = compilation.validate(shape, 'sent');
  const validateRow = isOwnShape && !compilation.standIn ? compileRowShape(endpoint, compilation) : undefined;
  const look = compileLook(validate, compilation, model);
  const fill = compileDefaults(spec, shape);
  const dropped = withoutStated(droppedFor(model, compilation), endpoint, model, compilation);
  const isNamed = compilation.standIn !== undefined && !hasAnyMembers(model);
  const older = isOwnShape ? undefined : compilation.version?.carries.resource(model.name);
  const readOnlySent = compileReadOnlySent(endpoint, droppedAlone(dropped, endpoint, model));
  /** A stated body that is no object, such as a text, fills no field by itself: what it sets is for `set` to say. */
  function valueAsRequest(exchange: Exchange): SentRow {
    const violations = look(exchange, exchange.request);
    if (violations.length > 0) return invalid(violations);
    const fields: Fields = new Bare();
    bindPath(fields, exchange, model, locator);
    return { fields };
  }

  /** What an older version cannot see stays as it is in the row that is replaced. */
  function raised({ older: body, request }: Exchange, before: Fields | undefined): Value {
    if (!older || !body || !before) return request;
    const { field } = model.identifier;
    return isFields(request) ? { [field]: request[field], ...(older.up(body.body, before) as Fields) } : request;
  }

  return (exchange, before) => {
    const misfits = exchange.older?.violations ?? [];
    if (misfits.length > 0) return { refusal: { ...invalid(misfits).refusal, inVersion: true } };
    const sent = raised(exchange, before);
    if (!isFields(sent)) return isOwnShape ? valueAsRequest(exchange) : invalid(validate(sent));
    const fields: Fields = isOwnShape ? withoutPrototype(sent) : withoutKeys(sent, dropped);
    const disagreements = bindPath(fields, exchange, model, locator);
    if (disagreements.length > 0) return invalid(disagreements);
    fill?.(fields);
    if (before) for (const name of older?.unseen ?? []) if (before[name] === undefined) delete fields[name];
    const unfit = look(exchange, fields);
    const broken = rules && !before && !isOwnShape ? rules(fields, unfit.length === 0) : [];
    const violations = readOnlySent ? [...readOnlySent(exchange), ...unfit, ...broken] : [...unfit, ...broken];
    if (violations.length > 0) return invalid(violations);
    if (!isOwnShape) return { fields: isNamed ? onlyOwn(model, fields, true) : fields };
    const own = onlyOwn(model, withoutKeys(fields, dropped), isNamed);
    bindPath(own, exchange, model, locator);
    // What a stated body lets pass becomes a row, which has a shape of its own.
    const unshaped = validateRow?.(own) ?? [];
    const wrong = [...unshaped, ...(before ? [] : (rules?.(own, unshaped.length === 0) ?? []))];
    return wrong.length > 0 ? invalid(wrong) : { fields: own };
  };
}

/** Compiles the look at what was sent: what is wrong with it, of a stand-in but for what it lets pass; `model` = what a row is made of it. */
export function compileLook(validate: Validate, { standIn }: Pick<ViewCompilation, 'standIn'>, model?: RowModel) {
  const unsent = model && isMadeUpWhereUnsent(model, standIn) ? `/${model.identifier.field}` : undefined;
  return (exchange: Exchange, value: Value): readonly Violation[] => {
    const all = validate(value);
    if (!standIn || all.length === 0) return all;
    const found = unsent === undefined ? all : withoutUnsent(all, unsent, exchange);
    if (found.length === 0) return found;
    const forgiven = standIn.forgive(exchange, found);
    const heard = forgiven.length === 0 ? forgiven : standIn.times.hear(exchange, value, forgiven, validate);
    const left = heard === forgiven ? forgiven : standIn.forgive(exchange, heard);
    const nulls = left.length === 0 ? [] : standIn.withoutNulls(value, left);
    if (nulls.length === 0) return left;
    const again = standIn.forgive(exchange, validate(value));
    if (again.length === 0)
      warn(
        exchange,
        nulls.map(({ path }) => `body ${path.slice(1)} is null`),
      );
    return again;
  };
}

/** Less the identifier that was not sent, which is told. */
function withoutUnsent(all: readonly Violation[], unsent: string, exchange: Exchange): readonly Violation[] {
  const rest = all.filter(({ path, found }) => found !== 'nothing' || path !== unsent);
  if (rest.length < all.length) warn(exchange, [`body ${unsent.slice(1)} is required and was not sent`]);
  return rest;
}

/** Compiles what the members of a row have to be, whichever of them a stated body brings. */
function compileRowShape(endpoint: Endpoint, compilation: ViewCompilation) {
  const byRule = requestShape(compilation.spec, { ...endpoint, request: { standing: 'open', at: endpoint.at } });
  const shape = statedValue(byRule);
  return shape && compilation.validate({ ...shape, required: [] }, 'sent');
}

/** Compiles the taking of a body in which the row is one member: the whole is held to the stated shape, and what the row cannot have is dropped. */
function compileEnclosed(endpoint: Endpoint, model: RowModel, locator: Locator, compilation: ViewCompilation) {
  const { spec, standIn } = compilation;
  const shape: Shape = statedValue(endpoint.request) ?? {};
  const validate = compilation.validate(shape, 'sent');
  const look = compileLook(validate, compilation, model);
  const validateRow = standIn ? undefined : compileRowShape(endpoint, compilation);
  const fill = compileDefaults(spec, shape);
  const dropped = withoutStated(droppedFor(model, compilation), endpoint, model, compilation);
  const rules = standIn ? undefined : model.rules;
  const isNamed = standIn !== undefined && !hasAnyMembers(model);
  return (exchange: Exchange, before?: Fields): SentRow => {
    fill?.(exchange.request);
    const violations = look(exchange, exchange.request);
    if (violations.length > 0) return invalid(violations);
    const inner = takenOf(endpoint, exchange.request);
    const own = onlyOwn(model, withoutKeys(isFields(inner) ? inner : {}, dropped), isNamed);
    const disagreements = bindPath(own, exchange, model, locator);
    const misfits = disagreements.length > 0 ? disagreements : (validateRow?.(own) ?? []);
    const unfit = [...misfits, ...(before ? [] : (rules?.(own, misfits.length === 0) ?? []))];
    return unfit.length > 0 ? invalid(unfit) : { fields: own };
  };
}

/** What has to be sent; of a stand-in no identifier, where it is open who makes it. */
function shapeSent(endpoint: Endpoint, { identifier }: RowModel, { spec, standIn }: ViewCompilation): Shape {
  const shape: Shape = statedValue(requestShape(spec, endpoint)) ?? {};
  if (!standIn || isStated(endpoint.request) || !Array.isArray(shape.required)) return shape;
  // Where it is not said what is sent, nothing has to be, and what is not is made up.
  if (standIn.isLenient) return { ...shape, required: [] };
  if (identifier.generate.by !== 'open') return shape;
  return { ...shape, required: shape.required.filter((name) => name !== identifier.field) };
}

/** Compiles the validation of a body that is stated for an operation which does not make it a row: a transition's, a deletion's, a handler's. */
export function compileStatedBody(
  endpoint: Endpoint,
  compilation: ViewCompilation,
): (work: Work<Reader>, exchange: Exchange) => Refusal | undefined {
  if (!isStated(endpoint.request)) return () => undefined;
  const shape = endpoint.request.value;
  const validate = compilation.validate(shape, 'sent');
  const fill = compileDefaults(compilation.spec, shape);
  const findReferences = compileReferences(compilation.spec, shape);
  const look = compileLook(validate, compilation);
  return (work, exchange) => {
    const { request, older } = exchange;
    if (older && older.violations.length > 0) return { when: 'request.invalid', violations: older.violations, inVersion: true };
    fill?.(request);
    const violations = look(exchange, request);
    if (violations.length > 0) return { when: 'request.invalid', violations };
    return findReferences && missingAmong(work, findReferences(request), compilation);
  };
}

/** Sets what the path binds; a different value in the body is a violation. */
export function bindPath(fields: Fields, exchange: Exchange, model: RowModel, locator: Locator): Violation[] {
  const violations: Violation[] = [];
  for (const { parameter, field } of locator.bound) {
    const value = boundValue(model, field, exchange.pathParams[parameter] as string);
    const sent = fields[field];
    if (sent !== undefined && String(sent) !== String(value)) {
      violations.push({
        in: 'body',
        path: `/${field}`,
        found: describeValue(sent),
        expected: `${describeValue(value)}, as the path says`,
      });
    }
    fields[field] = value;
  }
  return violations;
}

/** What a caller of this user cannot write: dropped without a word. */
export function droppedFor(model: RowModel, { user, standIn }: ViewCompilation): ReadonlySet<string> {
  const denied = [...model.fields.values()].filter(
    ({ writable }) => writable !== undefined && (user === undefined || !writable.includes(user)),
  );
  const dropped = new Set([...model.readOnly, ...denied.map(({ name }) => name)]);
  // Where it is open what moves a row from state to state, a stand-in takes the state that is sent.
  for (const { hasTransitions, field } of standIn ? model.machines : [])
    if (!hasTransitions && !model.fields.get(field)?.readOnly) dropped.delete(field);
  return dropped;
}

/** What a request refers to must be there, and its caller must be able to read it. */
type MissingReference = (work: Work<Reader>, model: RowModel, next: Fields, before: Fields | undefined) => Refusal | undefined;

export function compileMissingReference(compilation: ViewCompilation): MissingReference {
  return (work, model, next, before) => {
    if (!model.findReferences) return undefined;
    const known = before && new Set(model.findReferences(before).map(({ path, id }) => `${path}\n${id}`));
    const found = model.findReferences(next).filter(({ path, id }) => !known?.has(`${path}\n${id}`));
    return missingAmong(work, found, compilation);
  };
}

function missingAmong(
  work: Work<Reader>,
  references: readonly FoundReference[],
  { access, user, standIn }: ViewCompilation,
): Refusal | undefined {
  const isThere = ({ id, target }: FoundReference): boolean => {
    const model = work.models.get(target);
    if (!model) return true;
    const row = work.rows.get(target, id);
    if (!row) return standIn?.given.mayBeNamed(work.rows, target, id) ?? false;
    const reading = access.reading(target, user);
    return reading.isFree || reading.allows(work.scope, model.parse(row));
  };
  const violations = references
    .filter((reference) => !isThere(reference))
    .map(({ path, id, target }) => ({
      in: 'body' as const,
      path,
      found: describeValue(id),
      expected: `the identifier of a ${target}`,
    }));
  return violations.length === 0 ? undefined : { when: 'reference.missing', violations };
}

export function invalid(violations: readonly Violation[]): { readonly refusal: Refusal } {
  return refuse('request.invalid', { violations });
}

export function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** Whether nothing is known of a resource but what its rows are told by: then they have whatever is sent. */
export function hasAnyMembers({ resource, identifier, fields }: RowModel): boolean {
  const known = [...fields.values()].filter(({ name, visible }) => name !== identifier.field && visible?.length !== 0);
  return resource.additionalProperties && known.length === 0;
}

/** Of a stand-in no field that its resource does not name: what a vendor takes and never shows is not to be shown either. */
function onlyOwn(model: RowModel, fields: Fields, isNamed: boolean): Fields {
  if (model.resource.additionalProperties && !isNamed) return fields;
  return withoutKeys(fields, new Set(Object.keys(fields).filter((name) => !model.fields.has(name))));
}

export function withoutKeys(fields: Fields, dropped: ReadonlySet<string>): Fields {
  const rest: Fields = new Bare();
  for (const name of Object.keys(fields)) if (!dropped.has(name)) rest[name] = fields[name];
  return rest;
}

/** A field that was sent and that its resource does not have. */
export function unknownField(name: string, value: Value, resource: string): Violation {
  const expected = `no such field: a ${resource} has none`;
  return { in: 'body', path: below('', name), found: describeValue(value), expected, [sort]: 'unknown' };
}

/** A field that is set once, sent with another value. */
export function changedField(name: string, value: Value): Violation {
  return { in: 'body', path: below('', name), found: describeValue(value), expected: 'its value unchanged: it is set once' };
}

/** Of what was sent, the fields that a resource has. */
export function ownFields(known: ReadonlyMap<string, unknown>, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => known.has(name)));
}
