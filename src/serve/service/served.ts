/** A document as it is served: the engine, the road and the refusals that are compiled of it. */

import { wholeOrder } from '../../parts/errors.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { basePath } from '../../parts/purpose.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Store } from '../../store/store.ts';
import { compileTargets } from '../callers/accepted-schemes.ts';
import { compileAuthentication } from '../callers/authentication.ts';
import { lendingTo } from '../callers/development.ts';
import { withCors } from '../callers/origin.ts';
import { compileVersionList } from '../exchange/compilation.ts';
import { withFollowing } from '../following/follow.ts';
import type { Call } from '../http/call.ts';
import { systemChance, systemClock } from '../http/clock.ts';
import { doorRefusals, type RefuseRaw } from '../http/refusals.ts';
import { compileLimits, type LimitsSetting } from '../limits/limits.ts';
import type { Engine } from '../operations/engine.ts';
import type { BeforeHandlers, Handlers } from '../operations/handlers.ts';
import { plansOf, startViews } from '../operations/plans.ts';
import { compileVersions } from '../operations/versioning.ts';
import { compileCursors } from '../resources/lists/query.ts';
import { compileModels } from '../resources/model.ts';
import { startStandIn } from '../resources/stand-in/start.ts';
import { startViewCompilation } from '../resources/view-compilation.ts';
import { compilePlay } from '../scenarios/play.ts';
import type { Stage } from '../scenarios/stage.ts';
import { type AnswerCall, compileRoad } from '../serve.ts';
import { compileSteps, type Note } from '../steps.ts';
import { bringRowsUp } from './rederive.ts';
import type { ServeOptions } from './service.ts';
import { type CountingPlace, type DocumentStore, storeOfDocument } from './sharing.ts';
import { type Migrated, migrate } from './stored/migrate.ts';
import { compileUnrouted, compileUnroutedRefusals, refuseCall } from './unrouted.ts';

/** Compiles a document that is to be served, over what is stored. @throws {Misfits} where stored rows do not fit it. */
export async function startServed(
  spec: Spec,
  store: Store,
  lasting: Lasting,
  note: Note | undefined,
  options: ServeOptions,
): Promise<Served> {
  const own = storeOfDocument(store);
  const { engine, migrated } = await startEngine(spec, own.store, lasting, options);
  const broughtUp = await bringRowsUp(engine);
  await lasting.development?.issue(engine.compilation);
  return {
    own,
    engine,
    carried: [...migrated.done, ...broughtUp],
    road: compileServe(engine, note, lasting.stage),
    refuseRaw: compileRawRefusals(engine),
    target: compileTargets(spec),
  };
}

/** A document as it is served: all of this changes at once where another one takes its place. */
export interface Served extends DoorsServed {
  /** The store as these plans have it. */
  readonly own: DocumentStore;
  /** What became of stored rows and their timers, in words. */
  readonly carried: readonly string[];
  /** What of a call's target the log may show. */
  readonly target: (call: Call) => string;
}

/** Compiles a document into the road that every request takes. */
function compileServe(engine: Engine, note: Note | undefined, stage: Stage | undefined): AnswerCall {
  const views = startViews(engine);
  const identify = compileAuthentication(engine);
  const versions = compileVersions(engine, plansOf(engine, views));
  const order = statedValue(engine.compilation.spec.errors.order);
  const road: AnswerCall = compileRoad({
    ...compileUnrouted(engine, identify, versions, note, (call) => road(call)),
    ...compileSteps(engine, identify, { ...versions, viewOf: views.of }, note),
    play: stage && compilePlay(stage, engine),
    // `any` is the order of section 6.
    order: order && wholeOrder(order),
  });
  return withCors(engine, road);
}

/** What outlasts a document that is served in place of another. */
export interface Lasting
  extends Pick<Engine, 'inFlight' | 'timersChanged' | 'events' | 'undelivered' | 'credentials' | 'development' | 'onFailure'>,
    Pick<LimitsSetting, 'counters'> {
  readonly counting: CountingPlace;
  /** What trials play; nothing where others rely on the service. */
  readonly stage: Stage | undefined;
}

/** Compiles a document over a store. @throws {Misfits} where stored rows do not fit it. */
async function startEngine(
  spec: Spec,
  store: Store,
  lasting: Lasting,
  options: ServeOptions,
): Promise<{ readonly engine: Engine; readonly migrated: Migrated }> {
  const standIn = options.sample ? startStandIn(spec, options, lendingTo(lasting.credentials, spec, options.as)) : undefined;
  const compilation = startViewCompilation(spec, options.as ?? entriesOf(spec.purpose.users)[0]?.[0], standIn);
  const models = withFollowing(compileModels(compilation, compilation.access), compilation);
  const chance = options.chance ?? systemChance;
  const clock = options.clock ?? systemClock;
  const migrated = await migrate({
    store,
    models,
    compilation,
    acceptMisfits: options.acceptMisfits ?? false,
    options: options.migration ?? {},
    now: () => clock.now(),
  });
  const secret = await store.setting('cursor key', () => Buffer.from(chance.bytes(32)).toString('base64url'));
  const { counters, counting, onFailure, stage: _stage, ...own } = lasting;
  const engine: Engine = {
    compilation,
    store,
    models,
    clock,
    chance,
    cursors: compileCursors(secret),
    // What a handler asks of its context is for its author to have right: it is given a whole HandlerContext.
    handlers: (options.handlers ?? {}) as Handlers,
    before: (options.before ?? {}) as BeforeHandlers,
    identify: options.identify,
    environment: options.environment ?? {},
    readFile: options.readFile,
    openapi: options.openapi,
    ...own,
    versions: compileVersionList(spec, compilation.validator, () => clock.now()),
    basePath: basePath(spec.purpose),
    acceptsOpen: options.open === 'accept' || standIn !== undefined,
    relaxesAuth: options.relax === 'auth',
    brought: options.acceptCredentials,
    ...provingOf(options),
    exchanges: standIn && ((endpoint) => standIn.exchangesCredential(endpoint)),
    isProduction: options.production ?? false,
    measures: options.onExchange !== undefined,
    onFailure,
    limits: compileLimits(spec.limits, {
      clock,
      counters,
      shared: counting.shared,
      compile: compilation.expression,
      onFailure,
    }),
  };
  return { engine, migrated };
}

/** A stand-in gives out tokens itself where its document says nobody's keys; one that is not strict takes what stands beside a good key; pages of this machine may call it. */
export function provingOf({ development, sample, strict, production }: ServeOptions) {
  return {
    takesLocalPages: sample === true && production !== true,
    signsAll: development === true && sample === true,
    takesCompanions: sample === true && strict !== true,
  };
}

/** What doors need of a document that is served. */
export interface DoorsServed {
  readonly engine: Engine;
  readonly road: AnswerCall;
  readonly refuseRaw: RefuseRaw;
}

/** Refusals of what never becomes a call: the parser's own, in the stated shape. */
function compileRawRefusals(engine: Engine): RefuseRaw {
  const table = compileUnroutedRefusals(engine);
  return (kind, path) => refuseCall(table, { path }, doorRefusals[kind], `req_${engine.chance.uuid()}`);
}
