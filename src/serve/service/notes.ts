/** What whoever runs a service is told: at its start, of the exchanges that it answered, and of failures. */

import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { StoreUnavailable } from '../../store/failures.ts';
import { acceptedSchemes, unsupportedBy } from '../callers/accepted-schemes.ts';
import type { AuthenticationSetting } from '../callers/authentication.ts';
import { keyFlaw } from '../callers/proofs.ts';
import { strictestOf } from '../exchange/counted.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import { traceOf } from '../exchange/observations.ts';
import type { Call, Reply } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import { protectingBounds } from '../limits/stated-bounds.ts';
import type { Engine } from '../operations/engine.ts';
import type { Note } from '../steps.ts';
import type { ExchangeEntry } from './service.ts';

/** What a person should know when a service starts: what is stated and not enforced, what is missing, what protects the process. */
export function notesOf(engine: Engine): string[] {
  const { compilation, handlers } = engine;
  const { spec } = compilation;
  const missing = entriesOf(spec.endpoints.all).flatMap(([, { does }]) => {
    const effect = statedValue(does);
    return effect?.verb === 'handler' && !handlers[effect.name] ? [effect.name] : [];
  });
  return [
    ...authenticationNotes(engine),
    ...(missing.length > 0
      ? [
          `No handler is supplied for ${[...new Set(missing)].join(', ')}: ${missing.length === 1 ? 'it answers' : 'they answer'} 501.`,
        ]
      : []),
    ...boundsNote(protectingBounds(spec.limits)),
  ];
}

/** That there are bounds which nobody stated; the ledger has them all. */
function boundsNote(bounds: readonly string[]): string[] {
  const [first] = bounds;
  if (first === undefined) return [];
  const others = bounds.length - 1;
  return [
    `To protect the process: ${first}${others > 0 ? ` The ledger has ${others} more such bound${others === 1 ? '' : 's'}.` : ''}`,
  ];
}

/** What a person should know of how callers are known: for whom they are taken, which credentials cannot be verified, and why. */
function authenticationNotes(engine: AuthenticationSetting): string[] {
  const { compilation, identify, development } = engine;
  const { spec, user } = compilation;
  if (identify) return [];
  if (!isStated(spec.authentication.schemes))
    return [`Every caller is taken for { id: 'local', user: ${user === undefined ? 'none' : `'${user}'`}, scopes: [] }.`];
  return [
    ...authenticationFlaws(engine),
    ...(development?.lacking ?? []).map(
      (name) => `No credential could be made for ${name}: its claims cannot be worked out from the scheme's \`caller\`.`,
    ),
  ];
}

/** Why credentials of accepted schemes cannot be verified, where that is known at the start. */
function authenticationFlaws(
  engine: Pick<AuthenticationSetting, 'compilation' | 'environment' | 'readFile' | 'signsAll'>,
): string[] {
  return acceptedSchemes(engine.compilation.spec).flatMap((one) => {
    const unsupported = unsupportedBy(one, engine);
    if (unsupported !== undefined) return [unsupported];
    const flaw = keyFlaw(one, engine);
    return flaw === undefined ? [] : [`Tokens of the scheme "${one.scheme.name}" cannot be verified: ${flaw}.`];
  });
}

/** What is noted down: answered exchanges, and failures, of which those that repeat are told seldom. */

/** What is done with an answered exchange: it is counted, in one way or two, and logged, where any of it is asked for. */
export function noteAll(counts: readonly ({ readonly note: Note } | undefined)[], logged: Note | undefined): Note | undefined {
  const asked = counts.filter((count) => count !== undefined);
  if (asked.length === 0) return logged;
  return (call, exchange, reply, refusal) => {
    for (const count of asked) count.note(call, exchange, reply, refusal);
    logged?.(call, exchange, reply, refusal);
  };
}

/** Makes a line of the log of each exchange. */
export function compileNote(
  onExchange: (entry: ExchangeEntry) => void,
  clock: { now(): number },
  target: (call: Call) => string,
  notes: ((status: number) => boolean) | undefined,
): Note {
  return (call: Call, exchange: Exchange | undefined, reply: Reply, refusal: Refusal | undefined) => {
    if (notes && !notes(reply.status)) return;
    const now = clock.now();
    const open = refusal?.open ?? exchange?.accepted;
    const code = refusal && (refusal.code ?? refusal.when ?? (refusal.unsupported ? 'unsupported' : undefined));
    const entry: Writable<ExchangeEntry> = {
      at: new Date(now).toISOString(),
      requestId: exchange?.requestId() ?? '',
      method: call.method,
      target: target(call),
      status: reply.status,
      operation: exchange?.plan.operation.name,
      ms: exchange ? now - exchange.nowMs : 0,
    };
    if (exchange) addCost(entry, exchange, now);
    if (code !== undefined) entry.refused = code;
    if (refusal?.violations) entry.where = refusal.violations.slice(0, placesMost).map(placeOf);
    if (exchange?.sampled) entry.sampled = exchange.sampled;
    if (exchange?.warnings) entry.warnings = exchange.warnings;
    if (exchange?.scenario) entry.scenario = exchange.scenario.name;
    if (open) entry.open = open.map(({ kind, subject }) => `${kind} (${subject})`);
    onExchange(entry);
  };
}

/** An entry while it is made: one is made of each request, and copying it for each member would cost as much again. */
type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/** Who it was, and what it has cost. */
function addCost(entry: Writable<ExchangeEntry>, { caller, view, counted, cost, trace }: Exchange, nowMs: number): void {
  if (caller && caller.user !== '') entry.user = caller.user;
  if (view.version !== undefined) entry.version = view.version;
  const left = counted && strictestOf(counted, nowMs)?.remaining;
  if (left !== undefined) entry.left = left;
  if (cost) {
    if (cost.storeMs > 0) entry.storeMs = Math.round(cost.storeMs * 10) / 10;
    if (cost.rows !== undefined) entry.rows = cost.rows;
    if (cost.batch !== undefined) entry.batch = cost.batch;
  }
  const traceId = trace && traceOf(trace.traceparent);
  if (traceId !== undefined) entry.trace = traceId;
}

/** How many places of what is wrong a line names. */
const placesMost = 3;

/** Where something is wrong, never what stands there. */
function placeOf({ in: place, path }: { readonly in: string; readonly path: string }): string {
  return `${place} ${path}`.slice(0, 100);
}

type OnFailure = (failure: unknown, requestId: string) => void;

/** How long what keeps failing in the same way is not told again. */
const quietMs = 60_000;

/** Tells failures; those of a store that cannot be read or written once a minute, for then every request has the same one. */
export function quietly(tell: OnFailure, clock: Clock): OnFailure {
  let toldMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (failure, requestId) => {
    if (!(failure instanceof StoreUnavailable)) return tell(failure, requestId);
    const nowMs = clock.now();
    if (nowMs - toldMs < quietMs) {
      untold += 1;
      return;
    }
    toldMs = nowMs;
    tell(
      untold === 0 ? failure : new Error(`${failure.message} (and ${untold} more since it was last told)`, { cause: failure }),
      requestId,
    );
    untold = 0;
  };
}
