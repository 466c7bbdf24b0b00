import { entriesOf, entryOf } from '../../parts/fact.ts';
import type { Selection } from '../../parts/versioning.ts';
import type { History } from '../../parts/versions/carry.ts';
import { isServed } from '../../parts/versions/spec-in-version.ts';
import type { Store } from '../../store/store.ts';
import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Versions } from '../exchange/compilation.ts';
import { type Caller, type Exchange, Planned, type Refusal, type Routed } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { Call, Reply } from '../http/call.ts';
import { compileRoutes, type Router } from '../http/route.ts';
import type { ToldParameter } from '../http/route-leaf.ts';
import { pathReader } from '../http/target.ts';
import { describeValue } from '../http/violation.ts';
import type { Engine } from './engine.ts';
import { planInVersion } from './older-plan.ts';
import { compileToldVersion, sunsetMsOf } from './version-headers.ts';

/** What the versioning part does on a request's road. */
export interface CompiledVersions {
  /** Step 2: the version that a call asks for, and the endpoint of that version that it reaches. */
  readonly route: (call: Call) => Routed;
  /** Step 4, once the caller is known: the same in the version that the caller is pinned to. */
  readonly pinned: ((call: Call, caller: Caller, routed: Routed) => PromiseOrValue<Routed>) | undefined;
  /** Header fields of every answer: the name of its version, what is deprecated; nothing where the document says nothing of either. */
  readonly told: ((exchange: Exchange, reply: Reply) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Those of an answer to a call that reached no endpoint. */
  readonly unrouted: (version: string | undefined) => Readonly<Record<string, string>> | undefined;
}

/** Compiles the versions of a document over the plans of its newest shape. */
export function compileVersions(engine: Engine, plans: readonly Planned[]): CompiledVersions {
  const { versions, basePath } = engine;
  const told = compileToldVersion(engine.compilation.spec, versions?.history, versions?.selection, basePath);
  const hooks = { told: told.of, unrouted: told.unrouted };
  if (!versions) {
    const routes = routesOf(plans, basePath);
    const route = ({ method, path, query, headers }: Call): Routed => ({
      found: routes.find(method, path, query, headers),
      version: undefined,
      isAsked: false,
      path,
      refusal: undefined,
    });
    return { ...hooks, route, pinned: undefined };
  }
  return { ...hooks, ...compileSelection(engine, versions, plans) };
}

function compileSelection(
  engine: Engine,
  versions: Versions,
  plans: readonly Planned[],
): Pick<CompiledVersions, 'route' | 'pinned'> {
  const { history, selection } = versions;
  const { basePath, clock, compilation } = engine;
  const routers = new Map<string, Router<Planned>>();
  const asked = compileAsked(selection, history, basePath);
  const sunsets = new Map(history.versions.map((version) => [version.name, sunsetMsOf(version)]));
  const usual = selection?.default === 'oldest' ? (history.versions[0]?.name ?? history.current) : history.current;
  const unlisted = compilation.facts.others('versioning');
  const unversioned = selection?.by === 'path' ? pathReader(selection.carrier, basePath) : undefined;

  function routerOf(version: string): Router<Planned> {
    const known = routers.get(version);
    if (known) return known;
    const older = versions.older(version);
    const open = openFactsOf(engine, versions, version);
    const served = plans.filter(({ endpoint }) => isServed(history, version, endpoint.key));
    const own = older
      ? served.map((newest) => new Planned(newest.endpoint, () => planInVersion(newest.plan, older, open, engine)))
      : served;
    const router = routesOf(
      own,
      basePath,
      (plan) => (older && entryOf(older.spec.endpoints.all, plan.endpoint.key)?.path) ?? plan.endpoint.path,
    );
    routers.set(version, router);
    return router;
  }

  function routedIn(version: string, { method, query, headers }: Call, path: string, isAsked: boolean): Routed {
    const found = routerOf(version).find(method, path, query, headers);
    const sunsetMs = sunsets.get(version);
    const isGone = sunsetMs !== undefined && clock.now() >= sunsetMs;
    return { found, version, isAsked, path, refusal: isGone ? { when: 'version.sunset' } : undefined };
  }

  /** A version that is not there is refused in the current one, once the call is known to mean an endpoint. */
  function refusedIn(call: Call, path: string, name: string | undefined): Routed {
    const refusal = name !== undefined && unlisted.length > 0 ? { open: unlisted } : unknownVersion(selection, history, name);
    return { ...routedIn(history.current, call, path, true), refusal };
  }

  return {
    route(call) {
      const { name, path } = asked(call);
      if (name !== undefined) return sunsets.has(name) ? routedIn(name, call, path, true) : refusedIn(call, path, name);
      const routed = selection?.default === 'none' ? refusedIn(call, path, undefined) : routedIn(usual, call, path, false);
      if (!unversioned || routed.found.kind === 'found') return routed;
      const meant = unversioned(path);
      const elsewhere = meant && refusedIn(call, meant.path, meant.name);
      return elsewhere?.found.kind === 'found' ? elsewhere : routed;
    },
    pinned: selection?.default === 'pinned' ? compilePinned(engine, routedIn, refusedIn, sunsets) : undefined,
  };
}

function compilePinned(
  engine: Engine,
  routedIn: (version: string, call: Call, path: string, isAsked: boolean) => Routed,
  refusedIn: (call: Call, path: string, name: string | undefined) => Routed,
  listed: ReadonlyMap<string, unknown>,
): NonNullable<CompiledVersions['pinned']> {
  const pins = openPins(engine.store);
  return (call, caller, routed) =>
    after(pins.of(caller, routed.version as string), (pin) => {
      if (routed.isAsked || pin === routed.version) return routed;
      return listed.has(pin) ? routedIn(pin, call, routed.path, false) : refusedIn(call, routed.path, pin);
    });
}

function routesOf(
  plans: readonly Planned[],
  base: string,
  pathOf = ({ endpoint }: Planned): string => endpoint.path,
): Router<Planned> {
  return compileRoutes(
    plans.map((plan) => ({ method: plan.endpoint.method, path: pathOf(plan), value: plan, told: toldInFragment(plan.endpoint) })),
    { base },
  );
}

/** What the fragment of an endpoint's key says of its parameters: `#scope=mine&app`. A piece that names none of them is a note. */
function toldInFragment({ path, parameters }: Planned['endpoint']): ToldParameter[] {
  const [, fragment = ''] = /^[^#]*#(.*)$/s.exec(path) ?? [];
  return fragment.split('&').flatMap((piece): ToldParameter[] => {
    const [, name = '', value] = /^([^=]+)(?:=(.*))?$/s.exec(piece) ?? [];
    const [, one] = entriesOf(parameters).find(([, parameter]) => parameter.name.toLowerCase() === name.toLowerCase()) ?? [];
    return one && (one.in === 'query' || one.in === 'header') ? [{ in: one.in, name: one.name, value }] : [];
  });
}

/** The open facts without which a version's shapes are not known: what the versions above it changed. */
function openFactsOf({ compilation }: Engine, { history }: Versions, version: string): OpenFact[] {
  return history
    .openAbove(version)
    .flatMap((open) => compilation.facts.about('version identifiers', `changes of ${open.version}`));
}

/** The version of each key's first call. */
interface Pins {
  /** The version that a caller is pinned to; its first call pins it to the one that this call is made in. */
  of(caller: Caller, version: string): PromiseOrValue<string>;
}

/** How many pins are remembered; the others are looked up. */
const rememberedMost = 10_000;

/** Opens the pins of a store: each is written once and outlives a restart. */
function openPins(store: Store): Pins {
  const remembered = new Map<string, string>();
  return {
    of({ user, id, key }, version) {
      const name = `version pin\n${JSON.stringify([user, id, key ?? null])}`;
      const known = remembered.get(name);
      if (known !== undefined) return known;
      return after(
        store.setting(name, () => version),
        (pinned) => {
          if (remembered.size >= rememberedMost) remembered.delete(remembered.keys().next().value as string);
          remembered.set(name, pinned);
          return pinned;
        },
      );
    },
  };
}

/** What a call says of its version. */
interface RequestedVersion {
  /** The version by its name; nothing where the call does not say. */
  readonly name: string | undefined;
  /** The path without what chose the version. */
  readonly path: string;
}

/** Compiles the reading of the version that a call asks for: by a header, a query parameter or a path. */
function compileAsked(selection: Selection | undefined, history: History, basePath: string): (call: Call) => RequestedVersion {
  const { by, carrier } = selection ?? { by: 'pin', carrier: '' };
  if (by === 'header') {
    const header = carrier.toLowerCase();
    return ({ headers, path }) => {
      const sent = headers[header];
      return { name: Array.isArray(sent) ? sent.join(', ') : sent?.trim(), path };
    };
  }
  if (by === 'query') {
    return ({ query, path }) => {
      if (query === '') return { name: undefined, path };
      const sent = new Set(new URLSearchParams(query).getAll(carrier));
      return { name: sent.size === 0 ? undefined : [...sent].join(', '), path };
    };
  }
  if (by === 'path') {
    const listed = new Set(history.versions.map(({ name }) => name));
    const match = pathReader(carrier, basePath);
    return ({ path }) => {
      const found = match(path);
      return found && listed.has(found.name) ? found : { name: undefined, path };
    };
  }
  return ({ path }) => ({ name: undefined, path });
}

/** The refusal of a version that is not listed, or of none where one is wanted. */
function unknownVersion(selection: Selection | undefined, history: History, name: string | undefined): Refusal {
  const names = history.versions.map((version) => version.name).join(', ');
  const place = selection?.by === 'header' || selection?.by === 'query' || selection?.by === 'path' ? selection.by : undefined;
  const path = place === 'path' ? 'version' : (selection?.carrier ?? '');
  return {
    when: 'version.unknown',
    ...(place && { violations: [{ in: place, path, found: describeValue(name), expected: `one of ${names}` }] }),
  };
}
