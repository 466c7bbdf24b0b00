import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { transitionNamed } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { SampleStyle, TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { callerFor, callersFor } from './callers-for.ts';
import { requestAbout } from './request-about.ts';
import { openToFire } from './walk.ts';
import { type WrittenRow, writtenBy } from './writers.ts';

/** A request that is ready but for its body, and a valid body for it. */
export interface Begun {
  readonly json: Symbolic;
  readonly caller: TrialCaller | undefined;
  /** The row that is to be changed. */
  readonly row?: TrialRow;
  /** Whether it makes something new, rather than change what is there. */
  readonly isNew: boolean;
  request(json: Symbolic): RequestPlan;
  /** With its valid body: what is refused of another one is refused for that alone where this is accepted. */
  readonly valid: RequestPlan;
  /** The same begun anew, where one can only succeed once. */
  again(): Promise<Begun>;
}

/** As `beginBody`, for an endpoint that may take none. @throws {Untestable} */
export async function beginRequest(session: Session, endpoint: Endpoint): Promise<RequestPlan> {
  const begun = await begin(session, endpoint, 'plain');
  return begun.valid;
}

/** A valid request to an endpoint, whatever is known of what it does, with what it is about made before. @throws {Untestable} */
export async function arrange(session: Session, endpoint: Endpoint, style: SampleStyle = 'plain'): Promise<RequestPlan> {
  const verb = statedValue(endpoint.does)?.verb;
  if (verb !== undefined && verb !== 'list' && verb !== 'reply' && verb !== 'handler') {
    return (await begin(session, endpoint, style)).valid;
  }
  const { path, json } = await session.parts(endpoint, { style });
  const isPublic = session.model.access.isPublic(session.model.operationOf(endpoint));
  const caller = isPublic ? undefined : callerFor(session, endpoint);
  return session.model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
}

/** What else a request is to be begun with. */
interface Beginning {
  /** What the row that is changed is to be made with. */
  readonly rowBody?: WantedRow['body'];
  /** A field that whoever asks is to be let write. */
  readonly writing?: string;
}

/** Makes everything that a request with a body needs: parents, references, the row in a state in which it may be changed, with what is wanted in it. @throws {Untestable} */
export async function beginBody(
  session: Session,
  endpoint: Endpoint,
  style: SampleStyle,
  beginning: Beginning = {},
): Promise<Begun> {
  const begun = await begin(session, endpoint, style, beginning);
  const { json } = begun;
  if (json === undefined) throw new Untestable(`${endpoint.key} takes no body`);
  const again = () => beginBody(session, endpoint, style, beginning);
  return { ...begun, json, again: begun.isRepeatable ? async () => ({ ...begun, json, again }) : again };
}

type BegunRequest = Omit<Begun, 'json' | 'again'> & {
  readonly json: Symbolic | undefined;
  /** Whether the same may be sent again and again. */
  readonly isRepeatable: boolean;
};

async function begin(
  session: Session,
  endpoint: Endpoint,
  style: SampleStyle,
  { rowBody, writing }: Beginning = {},
): Promise<BegunRequest> {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const resource = resourceOfEffect(effect);
  const isNew = effect?.verb === 'create' || effect?.verb === 'upsert' || resource === undefined;
  if (isNew) {
    const able = callersFor(session, endpoint);
    const caller = writing === undefined ? able[0] : able.find((one) => mayWrite(session, resource ?? '', one, writing));
    if (writing !== undefined && !caller) throw new Untestable(`nobody who can be spoken for may write ${writing}`);
    const parts = await session.parts(endpoint, { style, ...(writing !== undefined && caller && { caller }) });
    const request = (json: Symbolic) => model.request(endpoint, { path: parts.path, caller, json });
    const valid = model.request(endpoint, { path: parts.path, caller, ...(parts.json !== undefined && { json: parts.json }) });
    // A second row of the same body may be one too many: only one with another identity is sure to be taken.
    const isRepeatable = model.uniqueFields(resource ?? '').length === 0 && !model.isUniqueByReference(resource ?? '');
    return { json: parts.json, caller, isNew, request, valid, isRepeatable };
  }
  const written = writing === undefined ? undefined : await rowToWrite(session, endpoint, resource, writing);
  const row = written?.row ?? (await rowFor(session, endpoint, resource, rowBody));
  const transition = effect?.verb === 'transition' ? machineTransition(session, resource, effect.transition) : undefined;
  if (transition) await openToFire(session, row, transition);
  const caller = written?.caller ?? callersFor(session, endpoint, row)[0];
  if (caller === undefined && model.callers.some(({ credential }) => credential))
    throw new Untestable(`nobody may call ${endpoint.key}`);
  const headers = await session.preconditions(endpoint, row, caller);
  const plan = await requestAbout(session, row, endpoint, { caller, style, headers, ...(transition && { transition }) });
  const json = plan.body && 'value' in plan.body ? plan.body.value : undefined;
  const request = (body: Symbolic): RequestPlan => ({
    ...plan,
    body: { value: body, type: plan.body?.type ?? 'application/json' },
  });
  return { json, caller, row, isNew, request, valid: plan, isRepeatable: false };
}

function mayWrite({ model }: Session, resource: string, { user }: TrialCaller, writing: string): boolean {
  const field = entryOf(model.resource(resource)?.fields, writing);
  return field?.writable?.includes(user) !== false;
}

function rowToWrite(session: Session, endpoint: Endpoint, resource: string, writing: string): Promise<WrittenRow> {
  return writtenBy(session, endpoint, resource, { isMeant: (caller) => mayWrite(session, resource, caller, writing) });
}

async function rowFor(session: Session, endpoint: Endpoint, resource: string, body: WantedRow['body']): Promise<TrialRow> {
  const effect = statedValue(endpoint.does);
  const states = endpoint.in ?? fromStates(session, resource, effect?.verb === 'transition' ? effect.transition : undefined);
  let why: unknown;
  for (const state of states ?? [undefined]) {
    try {
      return await session.make(resource, { ...(state !== undefined && { state }), ...(body && { body }) });
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why = error;
    }
  }
  throw why;
}

function fromStates(session: Session, resource: string, name: string | undefined): readonly string[] | undefined {
  if (name === undefined) return undefined;
  const transition = machineTransition(session, resource, name);
  return transition === undefined || transition.from === '*' ? undefined : transition.from;
}

function machineTransition(session: Session, resource: string, name: string) {
  return transitionNamed(session.model.spec.states, resource, name);
}
