import type { Pointer } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { ErrorCondition } from '../../parts/errors.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';
import { type StatedRefusal, statusFact } from '../model/refusals.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { briefly, type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';

/** What has to be refused, and why. */
export interface Refusing {
  /** The condition of the closed list, or the code itself. */
  readonly by: { readonly when: ErrorCondition } | { readonly code: string };
  /** The fact that is broken where it is not refused at all. */
  readonly fact: FactName;
  readonly reason: string;
  /** What is not allowed, for people: `a weight_g of 0`. */
  readonly what: string;
  readonly at?: Pointer;
  /** Asked of every exchange that is judged, in replays too: whether it really is what has to be refused. */
  readonly isSo?: (exchange: Exchange) => boolean;
}

/**
 * Claims three things of an exchange, each a fact of its own: that it was refused, that the code is the condition's, and that
 * the status is the code's. Returns whether it was refused.
 */
export function claimRefused(session: Session, done: Done<Exchange>, refusing: Refusing): boolean {
  const { model } = session;
  const { fact, reason, what, at } = refusing;
  const meant = (exchange: Exchange): Judgement => {
    if (model.refusals.isHurried(exchange)) return moot('the service had too much to do');
    if (exchange.status === 501) return moot('the service says that it cannot do this');
    return refusing.isSo?.(exchange) === false ? moot('it is not what has to be refused') : undefined;
  };
  const refused = session.claim({
    ...{ fact, reason, of: [done] as const, ...(at !== undefined && { at }) },
    judge: (exchange: Exchange) =>
      meant(exchange) ??
      (isDone(exchange) || exchange.status < 400
        ? { promised: `${what} is refused`, seen: `${exchange.status}${briefly(exchange)}` }
        : undefined),
  });
  const stated = statedRefusal(model, refusing, done.value.endpoint);
  if (!refused || !stated) return refused;
  claimCode(session, done, stated, refusing, meant);
  return refused;
}

function claimCode(
  session: Session,
  done: Done<Exchange>,
  stated: StatedRefusal,
  { what }: Refusing,
  meant: (exchange: Exchange) => Judgement,
): void {
  const { model } = session;
  const { name } = stated.code;
  const isRefused = (exchange: Exchange) => (exchange.status < 400 ? moot('it was not refused') : undefined);
  if (model.refusals.showsCodes) {
    session.claim({
      ...{ fact: { kind: 'conditions', subject: name }, reason: 'code', of: [done] as const, at: stated.rule.at },
      judge(exchange: Exchange) {
        const code = model.refusals.codeIn(exchange);
        const wrong = {
          promised: `${name}, for ${what}`,
          seen: `${exchange.status} ${code ?? 'without a code'}${briefly(exchange)}`,
        };
        return meant(exchange) ?? isRefused(exchange) ?? (code === name ? undefined : wrong);
      },
    });
  }
  const { status } = stated;
  if (status === undefined) return;
  session.claim({
    ...{ fact: statusFact(stated), reason: 'status', of: [done] as const },
    judge(exchange: Exchange) {
      const code = model.refusals.codeIn(exchange);
      if (model.refusals.showsCodes && code !== name) return moot('it is another code');
      return (
        meant(exchange) ??
        isRefused(exchange) ??
        (exchange.status === status ? undefined : { promised: `${status}, for ${what}`, seen: String(exchange.status) })
      );
    },
  });
}

function statedRefusal(model: Model, { by }: Refusing, endpoint: Endpoint | undefined): StatedRefusal | undefined {
  const operation = endpoint && model.operationOf(endpoint);
  return 'code' in by ? model.refusals.named(by.code, operation) : model.refusals.of(by.when, operation);
}
