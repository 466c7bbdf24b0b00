import type { Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Allowed } from '../../model/access.ts';
import type { Known } from '../../model/expressions.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';

/** What a rule allows is refused neither as forbidden nor as missing. */
export function ownJudgement(
  model: Model,
  operation: Operation,
  caller: TrialCaller,
  seen: TrialExchange,
  maker: TrialExchange | undefined,
): Judgement {
  if (maker && !isDone(maker)) return moot('the row was not made');
  for (const when of ['caller.forbidden', 'resource.missing'] as const) {
    const refusal = refusalFor(model, when, operation);
    if (!refusal || !isRefusal(model, seen, refusal) || !isRefused(model, seen)) continue;
    return {
      promised: `a rule allows ${operation.name} on this row to ${caller.user}`,
      seen: `it was answered ${seen.status} (${refusal.code})`,
    };
  }
  return undefined;
}

/** What no rule allows is refused: as forbidden to who may read the row, as missing to who may not, or as a rule says. */
export function foreignJudgement(
  model: Model,
  operation: Operation,
  caller: TrialCaller,
  readable: Allowed,
  code: string | undefined,
  seen: readonly TrialExchange[],
): Judgement {
  const [maker] = seen;
  const answer = seen.at(-1);
  if (!answer || (seen.length > 1 && maker && !isDone(maker))) return moot('the row was not made');
  if (model.refusals.isHurried(answer)) return moot('the service had too much to do');
  // It would have needed a fact that is open, whoever had asked.
  if (model.refusals.isOpen(answer)) return moot('the service says that it cannot do this');
  const promised = `no rule allows ${operation.name} on this row to ${caller.user}`;
  const told = { seen: `it was answered ${answer.status}` };
  if (!isRefused(model, answer)) return { promised: `${promised}, so it is refused`, ...told };
  if (code !== undefined) {
    // Whether a rule has the word also where the row itself may not be known of is not said.
    const missing = readable === 'yes' ? undefined : refusalFor(model, 'resource.missing', operation);
    const fits = [{ code, status: undefined }, ...(missing ? [missing] : [])].some((one) => isRefusal(model, answer, one));
    return fits ? undefined : { promised: `${promised}, and then the rule says ${code}`, ...told };
  }
  if (readable === 'unknown') return undefined;
  const unknown = refusalFor(model, 'caller.unknown', operation);
  if (unknown && isRefusal(model, answer, unknown)) return moot('the caller was not known');
  const when = readable === 'yes' ? 'caller.forbidden.row' : 'resource.missing';
  const refusal = refusalFor(model, when, operation);
  if (!refusal || isRefusal(model, answer, refusal)) return undefined;
  const why = readable === 'yes' ? 'may read it' : 'may not read it either';
  return { promised: `${promised}, who ${why}: ${refusal.status} (${refusal.code})`, ...told };
}

/** The code of a rule's `else`, which then has the word; nothing where no rule that stands for the caller has one. */
export function ownCode(model: Model, operation: Operation, caller: TrialCaller): string | undefined {
  return (model.access.rules(operation, caller) ?? []).find((rule) => rule.else !== undefined)?.else;
}

/** Whether a caller may read a row: a rule of an operation that reads it holds, or of a list where none does. */
export function readability(model: Model, row: TrialRow, caller: TrialCaller, known: Known): Allowed {
  const reads = model.endpointsThat('read', row.resource).filter((endpoint) => endpoint.identity === undefined);
  const asked = reads.length > 0 ? reads : model.endpointsThat('list', row.resource);
  // A path that names parents, or an operation with `identity`, has a word in it that is not asked here.
  const isPlain =
    asked.every((endpoint) => pathParameters(endpoint.path).length <= 1) &&
    model.endpointsThat('read', row.resource).length === reads.length;
  const answers = asked.map((endpoint) => model.access.allows(model.operationOf(endpoint), caller, known));
  if (answers.includes('yes')) return isPlain ? 'yes' : 'unknown';
  return answers.every((answer) => answer === 'no') ? 'no' : 'unknown';
}
