import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { machineAsked } from '../../parts/states.ts';
import { Spent } from '../exchange/budget.ts';
import type { Control } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { Missing } from '../exchange/symbol.ts';
import { NoRoom, Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { NoValue } from '../values/scalars.ts';
import type { HeldClaim } from './obligation.ts';

/** Everything that a case sent, and of it what was sent as a control alone. */
export interface CaseSent {
  readonly exchanges: readonly TrialExchange[];
  readonly controls: ReadonlyMap<Control, TrialExchange | undefined>;
}

/**
 * Whether what was refused shows anything: beside one of the refusals that a claim is about stands a request that was accepted
 * and differs only in what is refused. A claim about no refusal, or about the form of answers, needs none.
 */
export function isControlled(model: Model, { claim, exchanges }: HeldClaim, { exchanges: session, controls }: CaseSent): boolean {
  const refused = exchanges.filter(isRefusal);
  if (claim.isOfForm || refused.length === 0) return true;
  const own = claim.control && controls.get(claim.control);
  if (own && isAccepted(own)) return true;
  return refused.some((one) => session.some((other) => isAccepted(other) && differences(model, one, other, session) <= 1));
}

function isRefusal({ status }: TrialExchange): boolean {
  return status >= 400 && status < 500;
}

function isAccepted({ status }: TrialExchange): boolean {
  return status >= 200 && status < 400;
}

/** In how many things two requests differ: method, row, caller, each query parameter, header and member of the body. */
function differences(model: Model, refused: TrialExchange, accepted: TrialExchange, session: readonly TrialExchange[]): number {
  const [one, other] = [refused.sent, accepted.sent];
  const signed = [...(one.signed ?? []), ...(other.signed ?? [])];
  const isOtherPath = pathIn(one.target) !== pathIn(other.target);
  const isOtherRow = isOtherPath && !areAlike(model, refused, accepted, session);
  return [
    one.method !== other.method,
    isOtherRow,
    refused.caller?.credential?.value !== accepted.caller?.credential?.value,
    ...differing(one.query, other.query),
    ...differing(toldIn(refused, isOtherPath, signed), toldIn(accepted, isOtherPath, signed)),
    ...bodiesDiffer(one, other),
  ].filter(Boolean).length;
}

function pathIn(target: string): string {
  return target.split('?')[0] ?? '';
}

/** Whether two requests to one endpoint are about rows that were in one state then, as they were shown. */
function areAlike(model: Model, one: TrialExchange, other: TrialExchange, session: readonly TrialExchange[]): boolean {
  if (!one.endpoint || one.endpoint !== other.endpoint) return false;
  const [state, another] = [one, other].map((exchange) => stateBefore(model, exchange, session));
  return state !== undefined && state === another;
}

function stateBefore(model: Model, exchange: TrialExchange, session: readonly TrialExchange[]): Json | undefined {
  const resource = resourceOfEffect(exchange.endpoint && statedValue(exchange.endpoint.does)) ?? '';
  const field = (exchange.endpoint && machineAsked(model.spec.states, exchange.endpoint, resource)?.field) ?? '';
  const id = idIn(model, exchange);
  const at = session.indexOf(exchange);
  const row = session
    .slice(0, at < 0 ? session.length : at)
    .map((seen) => rowWith(model, seen, id))
    .findLast((found) => found !== undefined);
  return row && (row[field] ?? 'there');
}

/** The headers that say something of their own; keys are new each time, and another row has another tag. */
function toldIn(
  { sent, caller, endpoint }: TrialExchange,
  isOtherPath: boolean,
  signedAnyhow: readonly string[],
): Readonly<Record<string, Json>> {
  const left = new Set(['authorization', 'cookie', 'content-length', caller?.credential?.carrier.toLowerCase(), ...signedAnyhow]);
  const anew = new Set([endpoint?.idempotency?.header.toLowerCase(), ...(isOtherPath ? ['if-match', 'if-none-match'] : [])]);
  const told = Object.entries(sent.headers).filter(([name]) => !left.has(name));
  return Object.fromEntries(told.map(([name, value]) => [name, anew.has(name) ? 'anew' : value]));
}

function bodiesDiffer(one: TrialExchange['sent'], other: TrialExchange['sent']): boolean[] {
  if (isMap(one.json) && isMap(other.json)) return differing(one.json, other.json);
  return [one.text !== other.text];
}

function differing(one: Readonly<Record<string, Json>>, other: Readonly<Record<string, Json>>): boolean[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => !isSame(one[name], other[name]));
}

/** What a case sent that was never carried out. */
export const nothingSent: CaseSent = { exchanges: [], controls: new Map() };

/** Sends what has to be accepted beside what was refused, one after another, and says what the case sent in all. */
export async function sendControls(
  session: Session,
  course: { control(sent: CaseSent): Control | undefined },
): Promise<CaseSent> {
  const controls = new Map<Control, TrialExchange | undefined>();
  const sent = (): CaseSent => ({ exchanges: session.exchanges, controls });
  for (let next = course.control(sent()); next; next = course.control(sent())) {
    controls.set(next, undefined);
    try {
      // What is made anew may be accepted where what was made before was not.
      for (let tries = 0; tries < (typeof next === 'function' ? triesMost : 1); tries++) {
        const { value } = await session.send(typeof next === 'function' ? await next() : next);
        controls.set(next, value);
        if (isAccepted(value)) break;
      }
    } catch (error) {
      if (!withoutControl.some((one) => error instanceof one)) throw error;
    }
  }
  return sent();
}

const triesMost = 3;

/** Without a control what was refused shows nothing, and that is all. */
const withoutControl = [Untestable, Missing, NoValue, Spent];

/** Why a case came to nothing. */
interface Nothing {
  readonly why: string;
  /** What nobody thought of is our own fault: it is told, and says nothing of the service. */
  readonly ownFault?: string;
}

const known = [Untestable, NoRoom, Missing, Spent, NoValue];

/** Why a case of a trial came to nothing, by what it threw. */
export function cameToNothing(error: unknown, trial: string): Nothing {
  const message = error instanceof Error ? error.message : String(error);
  if (known.some((one) => error instanceof one)) return { why: message };
  const where =
    error instanceof Error
      ? (error.stack
          ?.split('\n')
          .slice(1, 4)
          .map((line) => line.trim())
          .join(' ') ?? '')
      : '';
  return {
    why: `ninefold failed: ${message}`,
    ownFault: `A case of ${trial} failed by a fault of ninefold's own: ${message} ${where}`,
  };
}
