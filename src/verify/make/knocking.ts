import { acceptedNames, acceptedSets, kindOfScheme, type Scheme, schemePrefix } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import { type Credential, signsWith, type TrialCaller } from '../exchange/callers.ts';
import type { Control } from '../exchange/claim.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { NoValue } from '../values/scalars.ts';
import { ready } from './readied.ts';

/** An operation that a request of HTTP reaches, and that is no stream: its answer ends. */
export interface Door {
  readonly operation: Operation;
  readonly endpoint: Endpoint;
}

/** The operations at which a caller has to show who it is. */
export function guardedDoors(model: Model): Door[] {
  const { authentication } = model.spec;
  if (!isStated(authentication.schemes)) return [];
  return doors(model).filter(({ operation }) => !model.access.isPublic(operation) && !letsAnyone(model, operation));
}

/** The operations at which no credential is looked at. */
export function publicDoors(model: Model): Door[] {
  return isStated(model.spec.authentication.schemes)
    ? doors(model).filter(({ operation }) => model.access.isPublic(operation))
    : [];
}

/** The operations that a rule lets everybody do, at which a credential is looked at all the same. */
export function doorsForAnyone(model: Model): Door[] {
  const { authentication } = model.spec;
  if (!isStated(authentication.schemes) || knockableSchemes(model).length === 0) return [];
  return doors(model).filter(({ operation }) => !model.access.isPublic(operation) && letsAnyone(model, operation));
}

function doors(model: Model): Door[] {
  return model.operations.flatMap((operation) =>
    operation.endpoint && (statedValue(operation.endpoint.does) || isStated(operation.endpoint.response))
      ? [{ operation, endpoint: operation.endpoint }]
      : [],
  );
}

/** Whether a rule lets everybody do it, with a credential or without. */
export function letsAnyone(model: Model, operation: Operation): boolean {
  const rules = statedValue(model.spec.authentication.permissions) ?? [];
  return rules.some((rule) => rule.to === 'anyone' && namesOperation(rule.allow, operation));
}

/**
 * A request that gets as far as the question who is calling: to the right path and method, in a version that is served, and about
 * nothing that is there. What comes later in the order of refusals is left wrong.
 */
export function knocking(model: Model, endpoint: Endpoint, caller: TrialCaller | undefined): RequestPlan {
  const path = Object.fromEntries(pathParameters(endpoint.path).map((name) => [name, '1']));
  return model.request(endpoint, { path, caller });
}

/** A valid request of somebody who may; nothing where none can be made. */
export async function acceptable(session: Session, { endpoint }: Door, caller?: TrialCaller): Promise<RequestPlan | undefined> {
  // What somebody made is most often theirs to ask about.
  for (const readying of caller ? [{ caller, maker: caller }, { caller }] : [{}]) {
    try {
      return (await ready(session, endpoint, readying)).request;
    } catch (error) {
      if (!(error instanceof Untestable) && !(error instanceof NoValue)) throw error;
    }
  }
  return undefined;
}

/** A control for who is refused for who it is, whatever is asked: what was made first, and anew where something else is in its way. */
export function anyAccepted(session: Session, door: Door, first: RequestPlan): Control {
  let isFirst = true;
  return async () => {
    const plan = isFirst ? first : await acceptable(session, door);
    isFirst = false;
    if (!plan) throw new Untestable(`no request to ${door.endpoint.key} is accepted`);
    return plan;
  };
}

/** Nobody sends it. */
export function asNobody({ caller: _caller, ...plan }: RequestPlan): RequestPlan {
  return plan;
}

/** The schemes that a credential may be of, somewhere or at an endpoint: what is accepted elsewhere alone is not looked at there. */
export function knockableSchemes(model: Model, endpoint?: Endpoint): Scheme[] {
  const { authentication } = model.spec;
  const accepted = endpoint ? new Set(acceptedSets(authentication, endpoint).flat()) : acceptedNames(model.spec);
  return entriesOf(model.spec.authentication.schemes).flatMap(([name, scheme]) => (accepted.has(name) ? [scheme] : []));
}

/** Somebody who shows another credential than was given. */
export function showing(credential: Credential, value: string): TrialCaller {
  return { name: 'stranger', user: '', credential: { ...credential, value } };
}

/** A credential of a scheme that nobody gave out, for documents of which no good one is known. */
export function inventedFor(scheme: Scheme): Credential | undefined {
  const carrier = statedValue(scheme.carrier);
  if (carrier === undefined) return undefined;
  const prefix = schemePrefix(scheme) ?? '';
  const text = kindOfScheme(scheme)?.invented ?? 'ninefold-verify';
  const signs = signsWith(scheme);
  if (signs) return { scheme, in: scheme.in, carrier, value: text, signs };
  return { scheme, in: scheme.in, carrier, value: `${prefix}${/\w$/.test(prefix) ? ' ' : ''}${text}` };
}
