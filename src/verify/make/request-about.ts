import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { parametersApart } from '../../parts/path-keys.ts';
import { boundByPath, identifierParameter, pathParameters } from '../../parts/payload.ts';
import { conditionsOfTransition, type Transition } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { SampleStyle, TrialRow } from '../exchange/row.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { type Aim, isAimedAt } from '../model/access.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { bareMap, withMember } from '../values/at-path.ts';
import { draftBody } from './body.ts';
import { membersFor } from './members-sent.ts';
import { keysKnown } from './path-keys.ts';
import { followShown } from './seen.ts';
import { isSent, knownRow, sentWith, takenOfBody } from './sent-with.ts';

export interface About {
  readonly caller?: TrialCaller | undefined;
  /** The transition that is to be fired, and what it is to lead to: the body is drawn so that it does. */
  readonly transition?: Transition;
  readonly target?: Aim;
  /** Whom the row is to be given to, where the body says that. */
  readonly named?: TrialCaller | undefined;
  readonly json?: Symbolic;
  /** Members of a body that is drawn, as they are to be. */
  readonly sent?: Readonly<Record<string, Json>> | undefined;
  readonly style?: SampleStyle;
  readonly headers?: Readonly<Record<string, Symbolic>>;
  readonly query?: Readonly<Record<string, Symbolic>>;
}

/** A request about one row: its path filled with what is known of the row, its body drawn unless it is given. */
export async function requestAbout(session: Session, row: TrialRow, endpoint: Endpoint, about: About = {}): Promise<RequestPlan> {
  const { model } = session;
  const drawn = about.json ?? (await bodyFor(session, endpoint, row, about));
  const json =
    drawn === undefined
      ? undefined
      : Object.entries(about.sent ?? {}).reduce((body, [name, value]) => withMember(body, [name], value), drawn);
  return model.request(endpoint, {
    path: pathValues(model, endpoint, row),
    caller: about.caller,
    ...(json !== undefined && { json }),
    ...(about.headers && { headers: about.headers }),
    ...(about.query && { query: about.query }),
  });
}

/**
 * The values of a path's parameters for a row: its identifier, the fields that the others name, and what is known of the rows that are named by
 * keys. @throws {Untestable} where nothing tells that.
 */
export function pathValues(model: Model, endpoint: Endpoint, row: TrialRow): Record<string, Symbolic> {
  const last = identifierParameter(endpoint);
  const keys = keysKnown(model, endpoint);
  const apart = parametersApart(endpoint);
  const path: Record<string, Symbolic> = bareMap({});
  for (const name of pathParameters(endpoint.path)) {
    const key = keys.get(name);
    const value = apart.has(name) ? valueApart(model, endpoint, name) : name === last ? row.id : row.known[key ?? name];
    if (key !== undefined && value === undefined) throw new Untestable(`nothing tells the ${key} of a ${row.resource}`);
    if (value !== undefined) path[name] = value;
  }
  return path;
}

/** What stands in a path and names no row: the last of its allowed values. @throws {Untestable} where it has none. */
function valueApart({ spec }: Model, endpoint: Endpoint, name: string): Json {
  const { properties } = paramsShape(spec, endpoint);
  const shape = isMap(properties) ? properties[name] : undefined;
  const value = isMap(shape) && Array.isArray(shape.enum) ? (shape.enum as readonly Json[]).at(-1) : undefined;
  if (value === undefined) throw new Untestable(`nothing tells what ${name} in the path may be`);
  return value;
}

const draws = 24;
/** So many are taken as they come; then their numbers are what the conditions compare them with. */
const drawsBefore = 3;

/** A body under which the transition's condition holds and the state is the wanted one, as far as that can be reckoned. */
async function bodyFor(session: Session, endpoint: Endpoint, row: TrialRow, about: About): Promise<Symbolic | undefined> {
  const make = (resource: string, referred: SampleStyle) =>
    session.make(resource, { style: referred, for: about.caller }).then(({ id }) => id);
  // What the path says of the row a body need not say, and may not say otherwise.
  const own = session.model.identifierField(row.resource);
  const bound = new Set(boundByPath(session.model.spec, endpoint).filter((name) => name !== own));
  const path = pathValues(session.model, endpoint, row);
  const drafting = { bound, make, path, caller: about.caller, ...(about.named && { named: about.named }) };
  const style = about.style ?? 'plain';
  const { transition, target } = about;
  if (!transition) return draftBody(session, endpoint, { ...drafting, style, changes: row });
  const parents = await sentWith(session, endpoint, row, { transition, target, caller: about.caller });
  const shown = followShown(session);
  // What was made for it was shown to whoever made it.
  const follow: typeof shown = (resource, key, unique) =>
    Object.values(parents).find((one) => one.resource === resource && isSent(session, one, key))?.fields ??
    shown(resource, key, unique);
  const isTaken = (body: Symbolic | undefined): boolean => {
    const request = body === undefined ? undefined : resolve(body, session.run);
    const all = takenOfBody(session, endpoint, row, { transition, caller: about.caller }, { body: request, follow });
    return all.some(
      (taken) => taken === 'unknown' || (taken !== 'blocked' && (target === undefined || isAimedAt(taken, target))),
    );
  };
  let drawn: Symbolic | undefined;
  for (let draw = 0; draw < draws; draw++) {
    drawn = await draftBody(session, endpoint, { ...drafting, parents, style: draw === 0 ? style : 'full' });
    if (isTaken(drawn) || drawn === undefined) return drawn;
    if (draw === drawsBefore) {
      const conditions = conditionsOfTransition(transition);
      const known = { fields: knownRow(session.model, row).fields, drawn: resolve(drawn, session.run) };
      const able = membersFor(session, endpoint, conditions, known)
        .map((members) => bareMap({ ...(drawn as Readonly<Record<string, Symbolic>>), ...members }))
        .filter((body) => isTaken(body));
      if (able.length > 0) return able[Math.floor(able.length / 2)];
    }
  }
  return drawn;
}
