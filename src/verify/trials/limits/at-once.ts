import { wholeOrder } from '../../../parts/errors.ts';
import { statedValue } from '../../../parts/fact.ts';
import { type AtOnce, perName } from '../../../parts/limits.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { rawOf } from '../../exchange/shell.ts';
import type { Step } from '../../exchange/step.ts';
import { capturesIn } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { refusalFor } from '../../model/refused-as.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { askersOf, countsCaller } from './counted.ts';
import { connectTo } from './times.ts';

const fact: FactName = { kind: 'rate limits', subject: 'at once' };

/** The most connections that are opened for it. */
const limitMost = 60;
const rivals = 2;
/** What is refused is refused at once; what is held says nothing for this long. */
const quietMs = 1_500;

/** Of requests whose bodies do not end so many are under way, and the others are refused; when they are gone there is room again. */
export const atOnce: Trial = {
  name: 'limits/at once',
  part: 'limits',
  about: 'So many requests are under way as are allowed, others are refused at once, and those that are given up make room.',
  noise: 'loud',
  *cases(model) {
    for (const rule of statedValue(model.spec.limits.atOnce) ?? []) {
      const found = rule.limit <= limitMost ? heldAt(model, rule) : undefined;
      if (found) yield caseOf(rule, found);
    }
  },
};

interface Held {
  readonly operation: Operation;
  readonly caller: TrialCaller | undefined;
}

/** Who can leave a body unfinished where it is counted; nobody where bodies are read before it is. */
function heldAt(model: Model, rule: AtOnce): Held | undefined {
  const order = wholeOrder(statedValue(model.spec.errors.order) ?? []);
  if (order.indexOf('body') < order.indexOf('rates')) return undefined;
  return model.operations
    .filter(({ endpoint }) => endpoint && model.requestShape(endpoint).standing !== 'none')
    .filter((operation) => rule.on === undefined || namesOperation(rule.on, operation))
    .flatMap((operation) => askersOf(model, operation).map((caller) => ({ operation, caller })))
    .find(({ operation, caller }) => caller && countsCaller(model, rule, operation, caller) === 'yes');
}

function caseOf(rule: AtOnce, { operation, caller }: Held): Case {
  const promised = `${rule.limit} at once per ${perName(rule)}`;
  return {
    name: `${operation.name}, ${promised}`,
    facts: [fact],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined, `${operation.name} has no endpoint`);
      const { request } = await ready(session, endpoint, { caller });
      const status = refusalFor(session.model, 'limit.rate', operation)?.status ?? 429;
      const held = await session.do(holding(request, rule.limit + rivals));
      const after = await session.send(request);
      session.claim({
        fact,
        reason: 'kept',
        at: rule.at,
        of: [held],
        judge: (all: readonly number[]): Judgement => {
          if (all.some((one) => one !== 0 && one !== status)) return moot('something else was answered');
          const waiting = all.filter((one) => one === 0).length;
          return waiting === rule.limit ? undefined : { promised, seen: `${waiting} of ${all.length} were under way` };
        },
      });
      session.claim({
        fact,
        reason: 'room again',
        at: rule.at,
        of: [held, after],
        judge: (all: readonly number[], seen: TrialExchange): Judgement => {
          if (!all.includes(status)) return moot('it was not full');
          return isDone(seen) || seen.status !== status
            ? undefined
            : { promised: `${promised}, of those that are under way`, seen: 'one was refused after all had gone' };
        },
      });
    },
  };
}

/** The step that begins so many requests at once, each with one byte of its body; what each was answered with, 0 where it was not. */
function holding(plan: RequestPlan, count: number): Step<readonly number[]> {
  return {
    says: `${plan.method} ${plan.template}, ${count} at once, each with one byte of a body of 64`,
    takes: [...capturesIn(plan.path), ...(plan.body && 'value' in plan.body ? capturesIn(plan.body.value) : [])],
    isWait: true,
    async act(run) {
      const { outgoing } = concrete(plan, run);
      if (outgoing.again) throw new Untestable('who signs a body is known once all of it is there, and no earlier');
      const begun = Array.from({ length: count }, () => {
        run.client.count(run);
        const { socket, host } = connectTo(run.client.origin);
        const one = { status: 0, socket };
        socket.on('data', (piece: Buffer) => {
          one.status ||= Number(/^HTTP\/1\.1 ([2-5]\d\d)/.exec(piece.toString('latin1'))?.[1] ?? 0);
        });
        socket.on('error', () => {});
        const headers = Object.entries({ ...outgoing.headers, host, 'content-length': '64' });
        const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        socket.write(`${outgoing.method} ${outgoing.target} HTTP/1.1\r\n${lines}\r\n{`);
        return one;
      });
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      for (const { socket } of begun) socket.destroy();
      // What is given up is known of by the service a moment later.
      await new Promise((resolve) => setTimeout(resolve, quietMs / 10));
      return begun.map(({ status }) => status);
    },
    tell: (all) => `${all.filter((status) => status === 0).length} of ${all.length} were not answered`,
    shell: (names) => rawOf(plan, names, { length: 64, body: '{', ms: quietMs }),
  };
}
