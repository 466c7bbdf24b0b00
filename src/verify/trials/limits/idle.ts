import { type Judgement, moot } from '../../exchange/claim.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { rawOf } from '../../exchange/shell.ts';
import type { Step } from '../../exchange/step.ts';
import { doorOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { connectTo } from './socket.ts';

const fact: FactName = { kind: 'time-outs', subject: 'service' };

/** What became of a connection on which nothing more was asked. */
interface Kept {
  /** Whether its one request was answered, and the connection then kept. */
  readonly isKept: boolean;
  /** How long after the answer it was ended; nothing where it still stands. */
  readonly ms: number | undefined;
}

/** A connection that has had its answer is kept for as long as stated, and no longer. */
export function idleConnection(model: Model, idleMs: number, longestMs: number): Case {
  return {
    name: 'a connection on which nothing is asked',
    facts: [fact],
    async run(session: Session) {
      const door = doorOf(model);
      session.need(idleMs <= longestMs, `whether a connection is ended after ${idleMs / 1000} s is not waited for`);
      session.need(door !== undefined, 'no operation can be asked without a row');
      const mostMs = idleMs * 1.25 + 2_500;
      const kept = await session.do(keeping(model.request(door.endpoint, { caller: door.caller }), mostMs));
      session.claim({
        fact,
        reason: 'idle',
        at: `${model.spec.limits.timeout.at}/idle`,
        of: [kept],
        judge: ({ isKept, ms }: Kept): Judgement => {
          const promised = `a connection on which nothing is asked is ended after ${idleMs / 1000} s`;
          if (!isKept) return moot('it was not kept at all');
          if (ms === undefined) return { promised, seen: `after ${Math.round(mostMs) / 1000} s it still stood` };
          return ms >= idleMs / 2 ? undefined : { promised, seen: `it was ended after ${ms / 1000} s` };
        },
      });
    },
  };
}

/** More than this is read of no answer here. */
const lengthMax = 65_536;

/** The step that asks once, and then nothing more on the same connection. */
function keeping(plan: RequestPlan, mostMs: number): Step<Kept> {
  return {
    says: `${plan.method} ${plan.template}, and then nothing more on that connection`,
    takes: [],
    isWait: true,
    act(run) {
      const { outgoing } = concrete(plan, run);
      run.client.count(run);
      const { socket, host } = connectTo(run.client.origin);
      return new Promise((resolve) => {
        let text = '';
        let answeredMs: number | undefined;
        const done = (ms: number | undefined) => {
          clearTimeout(timer);
          socket.destroy();
          resolve({ isKept: answeredMs !== undefined && !/\r\nconnection: *close/i.test(text), ms });
        };
        const timer = setTimeout(() => done(undefined), mostMs);
        socket.on('data', (piece: Buffer) => {
          text = (text + piece.toString('latin1')).slice(0, lengthMax);
          answeredMs = Date.now();
        });
        socket.on('close', () => done(answeredMs === undefined ? 0 : Date.now() - answeredMs));
        socket.on('error', () => {});
        const headers = Object.entries({ ...outgoing.headers, host });
        const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        socket.write(`${outgoing.method} ${outgoing.target} HTTP/1.1\r\n${lines}\r\n`);
      });
    },
    tell: ({ isKept, ms }) => (!isKept ? 'it was not kept' : ms === undefined ? 'it still stands' : `ended after ${ms} ms`),
    shell: (names) => rawOf(plan, names, { body: '', ms: mostMs }),
  };
}
