import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import { machineOn } from '../../parts/states.ts';
import { type Deprecation, endOf, type Version } from '../../parts/versioning.ts';
import { Carries } from '../../parts/versions/carries.ts';
import { type History, historyOf, type ResourceCarry } from '../../parts/versions/carry.ts';
import { CannotCarry } from '../../parts/versions/change-values.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { keepsRules } from '../model/field-rules.ts';
import type { Model } from '../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../model/refused-as.ts';
import type { Session } from '../session/session.ts';
import { boundsOf } from '../values/scalars.ts';
import type { Door } from './knocking.ts';

/** The versions of a document, and how requests say in which one they are. */
export interface RequestVersions {
  readonly history: History;
  readonly all: readonly Version[];
}

/** The versions of a document; nothing where it states none, or none can be asked for. */
export function versionsOf({ spec }: Model): RequestVersions | undefined {
  const history = historyOf(spec);
  const select = statedValue(spec.versioning.select);
  if (!history || !select || select.by === 'pin') return undefined;
  return { history, all: entriesOf(spec.versioning.versions).map(([, version]) => version) };
}

/** The same request in a version, or in none that it says. */
export function inVersion(model: Model, given: RequestPlan, version: string | undefined): RequestPlan {
  // Whoever leaves out its endpoint, whose shapes are those of the newest version, shows at it what it accepts all the same.
  const plan = { ...given, ...(given.endpoint && { shownAt: given.endpoint }) };
  const select = statedValue(model.spec.versioning.select);
  if (!select || select.by === 'pin') return plan;
  const { carrier, by } = select;
  if (by === 'path') {
    const step = version === undefined ? '' : carrier.replaceAll(/\{[^{}]+\}/g, encodeURIComponent(version));
    return { ...plan, prefix: `${model.basePath}${step}` };
  }
  const { [carrier]: _header, ...headers } = plan.headers;
  const { [carrier]: _query, ...query } = plan.query;
  const named = version === undefined ? {} : { [carrier]: version };
  return by === 'header' ? { ...plan, headers: { ...headers, ...named } } : { ...plan, query: { ...query, ...named } };
}

/** What there is of a version that cannot be asked for. */
export type VersionRefusal = 'version.unknown' | 'version.sunset';

/** Whether an answer is the refusal that is stated of such a version. */
export function isAnsweredAs(model: Model, operation: Operation, when: VersionRefusal, seen: TrialExchange): boolean {
  const refusal = refusalFor(model, when, operation);
  return refusal !== undefined && isRefused(model, seen) && isRefusal(model, seen, refusal);
}

/** Whether an answer says that a version is over; where it is not stated how that is said, any refusal does. */
export function isToldOver(model: Model, operation: Operation, seen: TrialExchange): boolean {
  const isStatedSo = refusalFor(model, 'version.sunset', operation) !== undefined;
  return isStatedSo ? isAnsweredAs(model, operation, 'version.sunset', seen) : seen.status >= 400 && seen.status < 500;
}

/** Whether the last day of a version has come; nothing within a day of it. */
export function isOver({ deprecation }: Version, nowMs: number): boolean | undefined {
  const stated = statedValue(deprecation);
  const sunset = stated && dateMs(endOf(stated));
  if (sunset === undefined) return false;
  return Math.abs(sunset - nowMs) < 86_400_000 ? undefined : nowMs > sunset;
}

/** What goes between the newest shapes and those of a version; nothing where it is not known what was changed since. */
export function carriesTo(model: Model, { history }: RequestVersions, version: string): Carries | undefined {
  return history.openAbove(version).length > 0 ? undefined : new Carries(model.spec, history, version, () => Date.now());
}

/** What is carried, a row of JSON; nothing where a value of it has no form in the other version. */
export function carried(carry: () => unknown): Readonly<Record<string, Json>> | undefined {
  try {
    // The cast holds: what is carried of a row of JSON is one, but for integers past 2^53.
    return carry() as Readonly<Record<string, Json>>;
  } catch (error) {
    if (error instanceof CannotCarry) return undefined;
    throw error;
  }
}

/** An operation to ask in every version: it changes nothing, names no row, and is in all of them. */
export function doorOf(model: Model): OpenDoor | undefined {
  return openDoors(model)[0];
}

/** An operation that somebody may ask without a row. */
export type OpenDoor = Door & { readonly caller: TrialCaller | undefined };

/** All such operations; `mayDepend` = also those that may be refused, by a condition over what is there. */
export function openDoors(model: Model, mayDepend = false, mayBeChanged = false): readonly OpenDoor[] {
  const changed = new Set(
    historyOf(model.spec)?.steps.flatMap(({ change }) => (change.kind === 'endpoint' ? [change.endpoint] : [])),
  );
  return model.operations.flatMap((operation): OpenDoor[] => {
    const { endpoint } = operation;
    if (endpoint?.method !== 'GET' || pathParameters(endpoint.path).length > 0) return [];
    if (!mayBeChanged && changed.has(endpoint.key)) return [];
    // Which row an `identity` means may be one that is not there.
    if (endpoint.identity || entriesOf(endpoint.parameters).some(([, { required }]) => required)) return [];
    if (model.access.isPublic(operation)) return [{ operation, endpoint, caller: undefined }];
    const leave = (caller: TrialCaller) => model.access.allows(operation, caller);
    const caller =
      model.callers.find((one) => leave(one) === 'yes') ??
      (mayDepend ? model.callers.find((one) => leave(one) !== 'no') : undefined);
    return caller ? [{ operation, endpoint, caller }] : [];
  });
}

type Body = Readonly<Record<string, Json>>;

/** How many numbers are looked at for one that is easily cut wrong. */
const numbersMax = 500;

/**
 * Members to make rows with, so that each value that was changed since a version is seen: at first what is drawn, with numbers
 * that are easily cut wrong where they were mapped; then each of the values that were renamed.
 */
export function bodiesFor(
  model: Model,
  { history }: RequestVersions,
  version: string,
  resource: string,
  carry: ResourceCarry,
): (Body | undefined)[] {
  const changes = history.steps.flatMap(({ level, change }) => (level >= history.levelOf(version) ? [change] : []));
  const mapped: Record<string, Json> = {};
  const renamed: Body[] = [];
  for (const change of changes) {
    if ((change.kind !== 'map' && change.kind !== 'enum') || change.resource !== resource) continue;
    if (!isSent(model, resource, change.field)) continue;
    if (change.kind === 'enum') renamed.push(...Object.values(change.values).map((value) => ({ [change.field]: value })));
    else Object.assign(mapped, brittle(model, resource, change.field, carry));
  }
  return [Object.keys(mapped).length === 0 ? undefined : mapped, ...renamed];
}

function isSent(model: Model, resource: string, name: string): boolean {
  const field = entryOf(model.resource(resource)?.fields, name);
  return field !== undefined && !field.readOnly && machineOn(model.spec.states, resource, name) === undefined;
}

/** A whole number whose older value, multiplied back, comes out a little less: who cuts it off instead of rounding is one short. */
function brittle(model: Model, resource: string, name: string, carry: ResourceCarry): Body {
  const field = entryOf(model.resource(resource)?.fields, name);
  const shape = field && statedValue(field.shape);
  const older = carry.newer(name)?.older;
  if (shape?.type !== 'integer' || older === undefined || Array.isArray(shape.enum)) return {};
  const { min, max, step } = boundsOf(shape, 'integer');
  for (
    let count = 0, value = Math.ceil(Math.max(min, 1) / step) * step;
    count < numbersMax && value <= max;
    count++, value += step
  ) {
    const was = carried(() => carry.down({ [name]: value }))?.[older];
    if (typeof was !== 'number' || Number.isInteger(was) || was === 0) continue;
    const factor = Math.round(value / was);
    if (Math.abs(was * factor - value) < 1e-6 && Math.trunc(was * factor) !== value) return { [name]: value };
  }
  return {};
}

/**
 * A body of the newest version as the older one has it, without what was not sent and what is there no more; with what is given, as far as the
 * rules over several fields of the resource that it makes a row of leave room for that.
 */
export function olderBody(
  { run, model }: Session,
  carry: ResourceCarry,
  body: Symbolic,
  given: Readonly<Record<string, Json>>,
  making?: string,
): Record<string, Symbolic> | undefined {
  const drawn = resolve(body, run);
  const newest = isMap(drawn) ? keepingRules(model, making, drawn, given) : undefined;
  const older = newest && carried(() => carry.down(newest));
  if (!newest || !older) return undefined;
  // The cast holds: what resolves to a map is one.
  const symbols = { ...newest, ...(body as Readonly<Record<string, Symbolic>>), ...given };
  const sent: Record<string, Symbolic> = {};
  for (const [name, value] of Object.entries(older)) {
    const line = carry.older(name);
    const newer = line === undefined ? name : line.newer;
    if (newer === undefined || !Object.hasOwn(newest, newer)) continue;
    // What stays as it is may be new in every run.
    sent[name] = isSame(value, newest[newer]) ? (symbols[newer] as Symbolic) : value;
  }
  return sent;
}

/** What is drawn with what is given in its place, without optional members that rules over both are told at; nothing where it still breaks one. */
function keepingRules(model: Model, making: string | undefined, drawn: Body, given: Body): Body | undefined {
  const resource = making === undefined ? undefined : model.resource(making);
  const whole = { ...drawn, ...given };
  if (!resource || keepsRules(model, resource, whole) !== 'no') return whole;
  const told = new Set(Object.values(resource.rules).flatMap(({ field }) => field ?? []));
  const isLeft = (name: string) =>
    Object.hasOwn(given, name) || !told.has(name) || statedValue(entryOf(resource.fields, name)?.required) === true;
  const rest = Object.fromEntries(Object.entries(whole).filter(([name]) => isLeft(name)));
  return keepsRules(model, resource, rest) === 'no' ? undefined : rest;
}

/** Ends a case about a version that is over. @throws {Untestable} */
export function needServed(session: Session, { all }: RequestVersions, version: string): void {
  const stated = all.find(({ name }) => name === version);
  if (stated && isOver(stated, session.run.clock.toService(Date.now())) !== false) session.need(false, `${version} is over`);
}

type Headers = Readonly<Record<string, string>>;

/**
 * What is wrong with the fields that tell of a deprecation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288).
 * Where several things are deprecated, the dates of any of them will do, and all links have to be there.
 */
export function deprecationFlaw(stated: readonly Deprecation[], headers: Headers): string | undefined {
  const dates = stated.flatMap(({ deprecated }) => dateMs(deprecated) ?? []);
  const sunsets = stated.flatMap(({ sunset }) => dateMs(sunset) ?? []);
  return deprecatedFlaw(dates, headers) ?? sunsetFlaw(sunsets, headers) ?? linkFlaw(stated, headers);
}

/** Whether an answer says that something about it is deprecated. */
export function saysDeprecated(headers: Headers): boolean {
  return headers.deprecation !== undefined || headers.sunset !== undefined;
}

/** RFC 9745 section 2.1: a date of structured fields, `@` and the seconds since 1970. */
function deprecatedFlaw(dates: readonly number[], { deprecation }: Headers): string | undefined {
  if (dates.length === 0) return undefined;
  if (deprecation === undefined) return 'there is no Deprecation';
  const seconds = /^@(-?\d+)(?:\s*;.*)?$/.exec(deprecation.trim())?.[1];
  if (seconds === undefined) return `Deprecation is ${deprecation}, which is no date of RFC 9745, such as @1688169599`;
  const isStated = dates.some((ms) => Math.floor(ms / 1000) === Number(seconds));
  return isStated ? undefined : `Deprecation is ${deprecation}, which is ${shown(Number(seconds) * 1000)}`;
}

const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

/** RFC 8594 section 3: an HTTP date. */
function sunsetFlaw(sunsets: readonly number[], { sunset }: Headers): string | undefined {
  if (sunsets.length === 0) return undefined;
  if (sunset === undefined) return 'there is no Sunset';
  if (!httpDate.test(sunset)) return `Sunset is ${sunset}, which is no HTTP date`;
  return sunsets.some((ms) => Math.floor(ms / 1000) * 1000 === Date.parse(sunset)) ? undefined : `Sunset is ${sunset}`;
}

function linkFlaw(stated: readonly Deprecation[], { link = '' }: Headers): string | undefined {
  const links = linksIn(link);
  const lacking = stated.flatMap(({ link: href }) => (href === undefined || hasLink(links, href) ? [] : [href]))[0];
  if (lacking === undefined) return undefined;
  return `there is no Link to ${lacking} with rel="deprecation"${link === '' ? '' : `, but ${link}`}`;
}

function hasLink(links: readonly Link[], href: string): boolean {
  return links.some((one) => one.href === href && one.rel.includes('deprecation'));
}

interface Link {
  readonly href: string;
  readonly rel: readonly string[];
}

/** The links of a `Link` field (RFC 8288 section 3), with their relations in lower case. */
export function linksIn(field: string): Link[] {
  return [...field.matchAll(/<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,]*))?)*)/g)].map(
    ([, href = '', rest = '']) => {
      const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]*))/i.exec(rest);
      const words = (rel?.[1] ?? rel?.[2] ?? '').toLowerCase();
      return { href, rel: words.split(/\s+/) };
    },
  );
}

/** A date as a document states it, in milliseconds since 1970. */
export function dateMs(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function shown(ms: number): string {
  return Math.abs(ms) > 8.64e15 ? 'no time' : new Date(ms).toISOString();
}
