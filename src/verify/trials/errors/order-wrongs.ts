import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { OrderWord } from '../../../parts/errors.ts';
import { entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { namesOperation } from '../../../parts/operations.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { machineIn, machineWith, statesNamed } from '../../../parts/states.ts';
import { canShow, type TrialCaller } from '../../exchange/callers.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { freshText } from '../../exchange/symbol.ts';
import { statesOf } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';

/** One thing that can be wrong in a request to an endpoint. */
export interface WrongStep {
  readonly word: OrderWord;
  readonly when: ErrorCondition;
  readonly what: string;
  /** `barred` = who may read the row of the request, and not do this to it. */
  make(plan: RequestPlan, barred: TrialCaller | undefined): RequestPlan;
  /** Whether there has to be somebody who is barred. */
  readonly needsBarred?: true;
  /** Whether it is wrong once the request was sent as it should be. */
  readonly isOnceDone?: true;
  /** The state of another row, for which it is wrong. */
  readonly inState?: string;
}

/** What can be made wrong on purpose for a step; nothing where the step asks nothing here, or nobody can make it wrong alone. */
export function wrongsOfStep(model: Model, endpoint: Endpoint, word: OrderWord): WrongStep[] {
  return [wrongs[word], besides[word]].flatMap((making) => {
    const made = making?.(model, endpoint);
    return made ? [{ word, ...made }] : [];
  });
}

/** Whether success is answered without a body, so that there is nothing of which a kind could be asked for. */
function isSilent({ does, response }: Endpoint): boolean {
  const answers = statedValue(response);
  if (!answers) return statedValue(does)?.verb === 'delete';
  return answers.filter(({ status }) => /^2/.test(status)).every(({ status }) => status === '204');
}

type Making = (model: Model, endpoint: Endpoint) => Omit<WrongStep, 'word'> | undefined;

const wrongs: Readonly<Partial<Record<OrderWord, Making>>> = {
  caller: (model, endpoint) =>
    isStated(model.spec.authentication.schemes) && model.access.allows(model.operationOf(endpoint), undefined) === 'no'
      ? { when: 'caller.unknown', what: 'no credential', make: ({ caller: _caller, ...plan }) => plan }
      : undefined,
  user(model, endpoint) {
    const operation = model.operationOf(endpoint);
    const excluded = model.callers.find(
      (caller) =>
        caller.credential !== undefined && canShow(caller, endpoint) && model.access.rules(operation, caller)?.length === 0,
    );
    return excluded && !model.access.isPublic(operation)
      ? {
          when: 'caller.forbidden',
          what: `${excluded.name}, for whom no rule is`,
          make: (plan) => ({ ...plan, caller: excluded }),
        }
      : undefined;
  },
  accept: (model, endpoint) =>
    endpoint.acceptIgnored || isSilent(endpoint) || model.refusals.standingOf('request.accept') !== 'refused'
      ? undefined
      : {
          when: 'request.accept',
          what: 'Accept: image/png',
          make: (plan) => ({ ...plan, headers: { ...plan.headers, Accept: 'image/png' } }),
        },
  body: (model, endpoint) =>
    takesJson(model, endpoint)
      ? {
          when: 'request.malformed',
          what: 'a body that ends too soon',
          make: (plan) => ({ ...plan, body: { text: '{"nf":', type: 'application/json' } }),
        }
      : undefined,
  parameters: (_model, endpoint) =>
    statedValue(endpoint.does)?.verb === undefined || (endpoint.parameters.standing === 'open' && endpoint.parameters.question)
      ? undefined
      : {
          when: 'request.parameter',
          what: 'a parameter that is not stated',
          make: (plan) => ({ ...plan, query: { ...plan.query, nf_not_stated: '1' } }),
        },
  row(_model, endpoint) {
    const parameter = identifierParameter(endpoint);
    const verb = statedValue(endpoint.does)?.verb;
    return parameter === undefined || verb === 'upsert'
      ? undefined
      : {
          when: 'resource.missing',
          what: 'a row that there is not',
          make: (plan) => ({ ...plan, path: { ...plan.path, [parameter]: freshText('nf-') } }),
        };
  },
  precondition: (_model, { ifMatch, etag }) =>
    ifMatch === 'accepted' || ifMatch === 'required'
      ? {
          when: 'precondition.failed',
          what: `a tag of another time${etag === 'weak' ? ', a strong one' : ''}`,
          make: (plan) => ({ ...plan, headers: { ...plan.headers, 'If-Match': '"nf-no-such-tag"' } }),
        }
      : undefined,
  request: (model, endpoint) =>
    takesJson(model, endpoint)
      ? {
          when: 'request.invalid',
          what: 'a body that is a list',
          // A broken body is no body of the wrong shape: whoever makes both wrong has the broken one.
          make: (plan) => (plan.body && 'text' in plan.body ? plan : { ...plan, body: { value: [], type: 'application/json' } }),
        }
      : undefined,
  state: (model, endpoint) =>
    leadsAway(model, endpoint)
      ? { when: 'transition.illegal', what: 'a state that it has led out of', make: (plan) => plan, isOnceDone: true }
      : inWrongState(model, endpoint),
};

/** What else can be wrong at the same step, of one that can be wrong in two ways. */
const besides: Readonly<Partial<Record<OrderWord, Making>>> = {
  row(model, endpoint) {
    const verb = statedValue(endpoint.does)?.verb;
    const rules = statedValue(model.spec.authentication.permissions) ?? [];
    const operation = model.operationOf(endpoint);
    const isOfRow = rules.some((rule) => rule.if !== undefined && namesOperation(rule.allow, operation));
    return identifierParameter(endpoint) === undefined || verb === 'upsert' || !isOfRow
      ? undefined
      : {
          when: 'caller.forbidden',
          what: 'somebody who may read the row, and not do this to it',
          make: (plan, barred) => ({ ...plan, ...(barred && { caller: barred }) }),
          needsBarred: true,
        };
  },
  precondition: (_model, { ifMatch }) =>
    ifMatch === 'required'
      ? {
          when: 'precondition.required',
          what: 'no tag where one is required',
          make: ({ headers: { 'If-Match': _tag, ...headers } = {}, ...plan }) => ({ ...plan, headers }),
        }
      : undefined,
};

/** What is changed or deleted in some states alone, in another. */
function inWrongState(model: Model, { does, in: allowed }: Endpoint): Omit<WrongStep, 'word'> | undefined {
  const effect = statedValue(does);
  if (!allowed || !effect || !('resource' in effect) || effect.verb === 'transition') return undefined;
  const machine = machineIn(model.spec.states, effect.resource, allowed[0]);
  const state = machine && statesOf(machine).find((one) => !statesNamed(model.spec.states, machine, allowed).includes(one));
  return state === undefined
    ? undefined
    : { when: 'transition.illegal', what: `the state ${state}`, make: (plan) => plan, inState: state };
}

/** A transition that cannot be fired where it has led to: once it is done, the state is wrong. A tag would be of another time then. */
function leadsAway(model: Model, { does, ifMatch, idempotency }: Endpoint): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'transition' || ifMatch || idempotency?.required) return false;
  const machine = machineWith(model.spec.states, effect.resource, effect.transition);
  const transition = machine && entryOf(machine.transitions, effect.transition);
  if (!transition || transition.from === '*' || transition.to.length !== 1) return false;
  return transition.to.every(({ state, answer }) => answer === undefined && !transition.from.includes(state));
}

function takesJson(model: Model, endpoint: Endpoint): boolean {
  const shape = model.requestShape(endpoint);
  return isStated(shape) && (endpoint.consumes === undefined || endpoint.consumes.includes('application/json'));
}
