import type { Journey } from './plan.ts';

/** What is known of a journey when it starts. */
export type Start = Pick<Journey, 'call' | 'plan' | 'pathParams' | 'nowMs' | 'caller' | 'view'>;

/** An exchange at the start of its road; its identifier is made when it is first asked for. */
export function startJourney(start: Start, newRequestId: () => string): Journey {
  let requestId: string | undefined;
  return {
    call: start.call,
    plan: start.plan,
    caller: start.caller,
    view: start.view,
    pathParams: start.pathParams,
    nowMs: start.nowMs,
    params: start.pathParams,
    request: undefined,
    older: undefined,
    bytes: undefined,
    accepted: undefined,
    sampled: undefined,
    warnings: start.call.warnings,
    refusedWith: undefined,
    deadline: undefined,
    requestId: () => {
      requestId ??= newRequestId();
      return requestId;
    },
  };
}
