import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { sortKeyOf } from '../../parts/parameters.ts';
import type { Shape } from '../../parts/shape.ts';
import { resourcesIn } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Deprecation, endOf, type Selection, type Version, versionedPath } from '../../parts/versioning.ts';
import type { History } from '../../parts/versions/carry.ts';
import type { Exchange, Plan } from '../exchange/exchange.ts';
import { isHidden } from '../exchange/visibility.ts';
import type { Call, Reply } from '../http/call.ts';
import { pathReader } from '../http/target.ts';

type Headers = Readonly<Record<string, string>>;

/** What answers tell of the version that they are in, and of what is deprecated. */
interface ToldVersion {
  /** Of a call that reached no endpoint. */
  unrouted(version: string | undefined): Headers | undefined;
  /** Of every other answer; nothing where none has a version, and nothing is deprecated. */
  readonly of: ((exchange: Exchange, reply: Reply) => Headers | undefined) | undefined;
}

/** What never differs between the answers of one endpoint in one view. */
interface Standing {
  /** Of every answer, whatever its status. */
  readonly always: readonly Deprecation[];
  readonly words: DeprecatedWords;
  readonly usual: Told;
  /** Of an answer that shows something. */
  readonly shown: Told;
}

/** Header fields that are made once, but for links to where the same request is answered in another version. */
interface Told {
  readonly headers: Headers;
  readonly successors: readonly string[];
}

/** Compiles it. A version that is chosen by a header is named by the same header, which the answer varies with. */
export function compileToldVersion(
  spec: Spec,
  history: History | undefined,
  selection: Selection | undefined,
  basePath: string,
): ToldVersion {
  const versions = new Map(history?.versions.map((version) => [version.name, version]));
  const naming = compileNaming(selection);
  const tell = compileTelling(naming, selection && selection.by !== 'pin' ? versions : new Map());
  const link = compileLinks(selection, versions, basePath);
  const standings = new Map<Plan, Standing[]>();

  function standingOf({ plan, view }: Exchange): Standing {
    const ofViews = standings.get(plan) ?? [];
    const known = ofViews[view.index];
    if (known) return known;
    const version = versions.get(view.version ?? '');
    const own = version && statedValue(version.deprecation);
    const always = [...(plan.endpoint.deprecated ? [plan.endpoint.deprecated] : []), ...(own ? [own] : [])];
    const words = deprecatedWords(spec, plan.endpoint, view.user);
    const made: Standing = {
      always,
      words,
      usual: tell(view.version, always),
      shown: tell(view.version, [...always, ...words.shown]),
    };
    ofViews[view.index] = made;
    standings.set(plan, ofViews);
    return made;
  }

  function of(exchange: Exchange, reply: Reply): Headers {
    const { always, words, usual, shown } = standingOf(exchange);
    const isShown = reply.status < 300 && (reply.body !== undefined || reply.stream !== undefined);
    const used = words.used?.(exchange) ?? [];
    if (used.length > 0)
      return link(exchange.call, tell(exchange.view.version, [...always, ...(isShown ? words.shown : []), ...used]));
    return link(exchange.call, isShown ? shown : usual);
  }

  return {
    unrouted: (version) => (selection?.by === 'header' ? naming(version) : undefined),
    of: history || hasDeprecated(spec) ? of : undefined,
  };
}

/** Whether anything is deprecated besides versions. */
function hasDeprecated({ endpoints, resources }: Spec): boolean {
  return (
    entriesOf(endpoints.all).some(
      ([, { deprecated, parameters }]) => deprecated || entriesOf(parameters).some(([, parameter]) => parameter.deprecated),
    ) || entriesOf(resources.all).some(([, { fields }]) => entriesOf(fields).some(([, field]) => field.deprecated))
  );
}

/** The header fields that name a version, where a header chooses it. */
function compileNaming(selection: Selection | undefined): (version: string | undefined) => Record<string, string> {
  if (selection?.by !== 'header') return () => ({});
  const header = selection.carrier.toLowerCase();
  return (version) => (version === undefined ? {} : { [header]: version, vary: selection.carrier });
}

/** Makes the header fields of deprecations. `linked` are the versions that a link can lead to. */
function compileTelling(
  naming: (version: string | undefined) => Record<string, string>,
  linked: ReadonlyMap<string, unknown>,
): (version: string | undefined, stated: readonly Deprecation[]) => Told {
  return (version, stated) => {
    const successors = stated.flatMap(({ alternative = '' }) => (linked.has(alternative) ? [alternative] : []));
    return { headers: { ...naming(version), ...deprecationHeaders(stated) }, successors: [...new Set(successors)] };
  };
}

/** Adds the links to where the same request is answered in the versions that come after. */
function compileLinks(
  selection: Selection | undefined,
  versions: ReadonlyMap<string, unknown>,
  basePath: string,
): (call: Call, told: Told) => Headers {
  const addressIn = compileAddresses(selection, versions, basePath);
  return (call, { headers, successors }) => {
    if (successors.length === 0) return headers;
    let { link } = headers;
    for (const version of successors) {
      const own = `<${quoted(addressIn(call, version))}>; rel="successor-version"`;
      link = link === undefined ? own : `${link}, ${own}`;
    }
    return link === undefined ? headers : { ...headers, link };
  };
}

/** Where a request is answered in another version: by a path or query, at another address; by a header, at its own. */
function compileAddresses(
  selection: Selection | undefined,
  versions: ReadonlyMap<string, unknown>,
  basePath: string,
): (call: Call, version: string) => string {
  return ({ path, query }, version) => {
    const more = query === '' ? '' : `?${query}`;
    if (selection?.by === 'path') {
      const found = pathReader(selection.carrier, basePath)(path);
      const rest = found && versions.has(found.name) ? found.path : path;
      return `${basePath}${versionedPath(selection.carrier, version)}${rest.slice(basePath.length)}${more}`;
    }
    if (selection?.by !== 'query') return path + more;
    const parameters = new URLSearchParams(query);
    parameters.set(selection.carrier, version);
    return `${path}?${parameters}`;
  };
}

/** An address as it may stand in a `Link` header, whatever was sent. */
function quoted(address: string): string {
  return /[<>"\s]/.test(address) ? address.replace(/[<>"\s]/g, encodeURIComponent) : address;
}

/** The deprecated fields and parameters that an exchange has to do with. */
interface DeprecatedWords {
  /** Those of every answer of the endpoint that shows something: they stand in its shape. */
  readonly shown: readonly Deprecation[];
  /** Those that a request may use: by sending them, or by a parameter. */
  readonly used: ((exchange: Exchange) => readonly Deprecation[]) | undefined;
}

/** Of a word in an exchange more has to be stated than that it is deprecated: the header field is about the whole of it, and knows dates alone. */
function isTold({ deprecated, sunset, alternative, link }: Deprecation): boolean {
  return [deprecated, sunset, alternative, link].some((one) => one !== undefined);
}

/** Finds them for one endpoint, as a user sees it. */
function deprecatedWords(spec: Spec, endpoint: Endpoint, user: string | undefined): DeprecatedWords {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const answers = statedValue(endpoint.response)?.flatMap(({ shape }) => (isStated(shape) ? [shape.value] : []));
  const shapes: Shape[] = answers ?? (resource === undefined ? [] : [{ resource }]);
  const shown = shapes.flatMap((shape) => fieldsShown(spec, shape, user));
  const fields = entriesOf(entryOf(spec.resources.all, resource ?? '')?.fields);
  const sent = fields.flatMap(([name, { deprecated }]) =>
    deprecated && isTold(deprecated) ? [[name, deprecated] as const] : [],
  );
  const parameters = entriesOf(endpoint.parameters).flatMap(([name, parameter]) => {
    const own = parameter.deprecated ?? sent.find(([field]) => field === parameter.filters)?.[1];
    return own && isTold(own) ? [[name, own] as const] : [];
  });
  const [sorter, sorting] = entriesOf(endpoint.parameters).find(([, { sorts }]) => sorts) ?? [];
  if (sent.length === 0 && parameters.length === 0) return { shown, used: undefined };
  return {
    shown,
    used({ request, params }) {
      const body = typeof request === 'object' && request !== null ? request : {};
      const sorted =
        sorter === undefined
          ? []
          : String(params[sorter] ?? '')
              .split(',')
              .map((word) => sortKeyOf(sorting ?? {}, word.trim()).field);
      return [
        ...sent.flatMap(([name, deprecated]) => (Object.hasOwn(body, name) || sorted.includes(name) ? [deprecated] : [])),
        ...parameters.flatMap(([name, deprecated]) => (params[name] !== undefined ? [deprecated] : [])),
      ];
    },
  };
}

/** The deprecated fields in whatever a shape shows, at any depth. */
function fieldsShown(spec: Spec, shape: Shape, user: string | undefined): Deprecation[] {
  const nodes = nodesOf(spec, user);
  const met = resourcesIn(shape);
  const shown: Deprecation[] = [];
  // A set is gone through with what is added on the way.
  for (const name of met) {
    const node = nodes.get(name) ?? nodeOf(spec, name, user);
    nodes.set(name, node);
    shown.push(...node.deprecated);
    for (const held of node.holds) met.add(held);
  }
  return shown;
}

/** What one resource shows to one user: its own deprecated fields, and the resources that it holds. */
interface Node {
  readonly deprecated: readonly Deprecation[];
  readonly holds: ReadonlySet<string>;
}

function nodeOf(spec: Spec, name: string, user: string | undefined): Node {
  const resource = entryOf(spec.resources.all, name);
  const fields = entriesOf(resource?.fields)
    .map(([, field]) => field)
    .filter((field) => !isHidden(field, { user, reveals: false }));
  const holds = new Set<string>();
  const whole = resource?.shape && statedValue(resource.shape);
  if (whole) resourcesIn(whole, holds);
  for (const { shape } of fields) resourcesIn(statedValue(shape), holds);
  return { deprecated: fields.flatMap(({ deprecated }) => (deprecated && isTold(deprecated) ? [deprecated] : [])), holds };
}

/** Kept for all the endpoints of a document: hundreds of them show the same resources. */
const known = new WeakMap<Spec, Map<string | undefined, Map<string, Node>>>();

function nodesOf(spec: Spec, user: string | undefined): Map<string, Node> {
  const byUser = known.get(spec) ?? new Map<string | undefined, Map<string, Node>>();
  known.set(spec, byUser);
  const nodes = byUser.get(user) ?? new Map<string, Node>();
  byUser.set(user, nodes);
  return nodes;
}

/** When a version is gone, in milliseconds since 1970. */
export function sunsetMsOf({ deprecation }: Version): number | undefined {
  return deprecation.standing === 'stated' || deprecation.standing === 'inferred' ? dateMs(endOf(deprecation.value)) : undefined;
}

/**
 * The header fields of what is deprecated: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288), with the
 * earliest date of each and every link.
 */
function deprecationHeaders(stated: readonly Deprecation[]): Record<string, string> | undefined {
  if (stated.length === 0) return undefined;
  const headers: Record<string, string> = {};
  // RFC 9745 knows dates alone; what is deprecated without one has been since the epoch. What only ends is not deprecated yet.
  const since = stated.flatMap(({ deprecated, sunset }) => dateMs(deprecated) ?? (sunset === undefined ? 0 : []));
  const sunsets = stated.flatMap(({ sunset }) => dateMs(sunset) ?? []);
  if (since.length > 0) headers.deprecation = `@${Math.floor(Math.min(...since) / 1000)}`;
  if (sunsets.length > 0) headers.sunset = new Date(Math.min(...sunsets)).toUTCString();
  const links = stated.flatMap(({ link, alternative }) => [
    ...(link === undefined ? [] : [`<${link}>; rel="deprecation"`]),
    ...(alternative === undefined ? [] : successorLink(alternative)),
  ]);
  if (links.length > 0) headers.link = [...new Set(links)].join(', ');
  return headers;
}

/** RFC 5829 section 3.4, where the alternative is an address. */
function successorLink(alternative: string): string[] {
  const isAddress = /^(?:[a-z][a-z\d+.-]*:|\/)[^<>\s"]*$/i.test(alternative);
  return isAddress ? [`<${alternative}>; rel="successor-version"`] : [];
}

/** A stated date or date-time, in milliseconds since 1970. */
function dateMs(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
