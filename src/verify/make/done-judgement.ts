import { isMap } from '../../document/values.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import { asText } from '../exchange/as-text.ts';
import { type Judgement, moot } from '../exchange/claim.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../model/refused-as.ts';
import { namesUnreadable } from './denied.ts';

/** A failure of the service, or an operation that is not there, shows that it cannot be done; what else is refused may be for a reason of its own. */
export function doneJudgement(
  model: Model,
  operation: Operation,
  seen: TrialExchange,
  made: TrialExchange | undefined,
): Judgement {
  if (isDone(seen)) return undefined;
  const missing = refusalFor(model, 'resource.missing', operation)?.code;
  const absent = (['route.unknown', 'method.unsupported'] as const).some((when) => {
    const refusal = refusalFor(model, when, operation);
    return refusal !== undefined && refusal.code !== missing && isRefused(model, seen) && isRefusal(model, seen, refusal);
  });
  // What is unavailable now and at every replay is not to be had.
  const failed = seen.status >= 500 && !(seen.status === 501 && mayBeOpen(model, operation, seen));
  if (!absent && !failed && !isLost(model, operation, seen, made)) return moot(`it was answered ${seen.status}`);
  return { promised: `${operation.name} can be done`, seen: `it was answered ${seen.status}` };
}

/** Whether a 501 may be how something open is answered: it says so itself, or something that is open bears on the operation. */
function mayBeOpen(model: Model, { resource, name, endpoint }: Operation, { body }: TrialExchange): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  if (isMap(body) && asText(body.type).startsWith('urn:ninefold:')) return true;
  const isAbout = (subject: string) => [resource, name, endpoint?.key].some((one) => one === subject.split('.')[0]);
  return (
    verb === undefined || verb === 'handler' || model.facts.all.some((fact) => fact.standing === 'open' && isAbout(fact.subject))
  );
}

/**
 * Whether something is said to be missing that surely is there, or somebody is not let in who surely may: the operation itself is, or a row that
 * was just made and that its caller may see.
 */
function isLost(model: Model, operation: Operation, seen: TrialExchange, made: TrialExchange | undefined): boolean {
  const { endpoint } = operation;
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  if (!endpoint || ![401, 403, 404].includes(seen.status) || verb === undefined || verb === 'handler') return false;
  if (mayBeForMore(model, operation, seen)) return false;
  const request = seen.sent.json === undefined ? {} : { request: seen.sent.json };
  const context = { ...request, params: { ...seen.sent.path, ...seen.sent.query } };
  if (model.access.allows(operation, seen.caller, { context }) !== 'yes') return false;
  const isAboutNoRow = ['create', 'upsert', 'list', 'reply'].includes(verb);
  if (isAboutNoRow) return pathParameters(endpoint.path).length <= (verb === 'upsert' ? 1 : 0);
  return made !== undefined && isDone(made) && !namesUnreadable(model, endpoint, seen.caller);
}

/** Whether a refusal may be for something else than who asks, or for what. */
function mayBeForMore(model: Model, operation: Operation, seen: TrialExchange): boolean {
  if (model.refusals.mayBeOwn(seen, operation)) return true;
  const code = model.refusals.codeIn(seen);
  const alike = model.refusals.all().filter((one) => (code === undefined ? one.status === seen.status : one.code.name === code));
  return alike.some(({ rule }) => !(statedValue(rule.when) ?? ['']).every((when) => aboutWhoOrWhat.test(when)));
}

const aboutWhoOrWhat = /^(?:caller\.|resource\.missing$|route\.unknown$)/;
