import type { ErrorCondition } from '../../parts/conditions.ts';
import type { Operation } from '../../parts/operations.ts';
import { isFlaw, type Judgement, moot } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { parseBody } from '../exchange/parse-body.ts';
import type { Done } from '../exchange/step.ts';
import type { Session } from '../session/session.ts';
import { refusals } from './refusals.ts';

/** A refusal that came in answer to something else than one request of the session. */
export interface UnaskedRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface RefusalIn<T> {
  readonly done: Done<T>;
  /** The refusal in what the step gave; nothing where there is none. */
  readonly answerIn: (result: T) => UnaskedRefusal | undefined;
  readonly when: ErrorCondition;
  readonly operation: Operation;
  /** What was refused, for people. */
  readonly what: string;
  readonly shrinkingRuns?: number;
}

/** Holds a refusal to everything that every refusal is held to, and to the code of its condition. */
export function claimRefusalIn<T>(
  session: Session,
  { done, answerIn, when, operation, what, shrinkingRuns }: RefusalIn<T>,
): void {
  const { model } = session;
  const stated = model.refusals.of(when, operation);
  const seenIn = (result: T): TrialExchange | undefined => {
    const answer = answerIn(result);
    return answer && exchangeOf(answer, operation);
  };
  const first = seenIn(done.value);
  const common = { of: [done] as const, ...(shrinkingRuns !== undefined && { shrinkingRuns }) };
  for (const { fact, reason } of first ? refusals.observe(first, model) : []) {
    session.claim({
      ...common,
      fact,
      reason,
      judge(result: T): Judgement {
        const seen = seenIn(result);
        const again = seen ? [...refusals.observe(seen, model)] : [];
        return again.find((one) => one.reason === reason && isFlaw(one.judgement))?.judgement;
      },
    });
  }
  if (!stated || !model.refusals.tells(stated.code.name)) return;
  const isOfRates = when === 'limit.rate' || when === 'limit.quota';
  session.claim({
    ...common,
    fact: { kind: 'conditions', subject: stated.code.name },
    reason: 'code',
    at: stated.rule.at,
    condition: when,
    judge(result: T): Judgement {
      const seen = seenIn(result);
      const code = seen && model.refusals.codeIn(seen);
      if (!seen || code === undefined) return moot('no code was shown');
      if (code === stated.code.name) return undefined;
      return !isOfRates && model.refusals.isHurried(seen)
        ? moot('it came at a time when too much was asked')
        : { promised: `${stated.code.name}, for ${what}`, seen: `${seen.status} ${code}` };
    },
  });
}

function exchangeOf(answer: UnaskedRefusal, { endpoint, name }: Operation): TrialExchange {
  const body = parseBody(answer.text, answer.headers['content-type']);
  const { method = 'GET', path: target = name } = endpoint ?? {};
  return { ...answer, body, sent: { method, target, headers: {}, path: {}, query: {} }, fromMs: 0, toMs: 0 };
}
