import type { Endpoint } from '../../parts/endpoints.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import type { Transition } from '../../parts/states.ts';
import type { TrialCaller } from '../model/callers.ts';
import { outcomeOf } from '../model/outcome.ts';
import type { RequestPlan } from '../script/plan.ts';
import type { Session } from '../script/session.ts';
import { resolve, type Symbolic } from '../script/symbol.ts';
import { bareMap } from '../values/bare-map.ts';
import type { SampleStyle } from '../values/style.ts';
import { draftBody } from './body.ts';
import type { TrialRow } from './row.ts';

export interface About {
  readonly caller?: TrialCaller | undefined;
  /** The transition that is to be fired, and the state that it is to lead to: the body is drawn so that it does. */
  readonly transition?: Transition;
  readonly target?: string;
  readonly json?: Symbolic;
  readonly style?: SampleStyle;
  readonly headers?: Readonly<Record<string, Symbolic>>;
  readonly query?: Readonly<Record<string, Symbolic>>;
}

/** A request about one row: its path filled with what is known of the row, its body drawn unless it is given. */
export async function requestAbout(session: Session, row: TrialRow, endpoint: Endpoint, about: About = {}): Promise<RequestPlan> {
  const { model } = session;
  const json = about.json ?? (await bodyFor(session, endpoint, row, about));
  return model.request(endpoint, {
    path: pathValues(endpoint, row),
    caller: about.caller,
    ...(json !== undefined && { json }),
    ...(about.headers && { headers: about.headers }),
    ...(about.query && { query: about.query }),
  });
}

/** The values of a path's parameters for a row: its identifier, and the fields that the others name. */
export function pathValues(endpoint: Endpoint, row: TrialRow): Record<string, Symbolic> {
  const last = identifierParameter(endpoint);
  const path: Record<string, Symbolic> = bareMap({});
  for (const name of pathParameters(endpoint.path)) {
    const value = name === last ? row.id : row.known[name];
    if (value !== undefined) path[name] = value;
  }
  return path;
}

const draws = 24;

/** A body under which the transition's condition holds and the state is the wanted one, as far as that can be reckoned. */
async function bodyFor(session: Session, endpoint: Endpoint, row: TrialRow, about: About): Promise<Symbolic | undefined> {
  const make = (resource: string, referred: SampleStyle) =>
    session.make(resource, { style: referred, for: about.caller }).then(({ id }) => id);
  const drafting = { bound: new Set<string>(), make, caller: about.caller };
  const style = about.style ?? 'plain';
  const { transition, target } = about;
  if (!transition) return draftBody(session, endpoint, { ...drafting, style, changes: row });
  let drawn: Symbolic | undefined;
  for (let draw = 0; draw < draws; draw++) {
    drawn = await draftBody(session, endpoint, { ...drafting, style: draw === 0 ? style : 'full' });
    const outcome = outcomeOf(session.model.expressions, transition, {
      operation: endpoint.operation,
      row: row.fields ?? {},
      unseen: session.model.unseenBy(row.resource, row.caller),
      request: drawn === undefined ? undefined : resolve(drawn, session.run),
      caller: about.caller,
      nowMs: session.run.clock.toService(Date.now()),
    });
    if (outcome === 'unknown' || (outcome !== 'blocked' && (target === undefined || outcome === target))) return drawn;
    if (drawn === undefined) return drawn;
  }
  return drawn;
}
