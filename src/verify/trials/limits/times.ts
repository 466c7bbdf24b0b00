import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { isStated, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { rawOf } from '../../exchange/shell.ts';
import type { Step } from '../../exchange/step.ts';
import { capturesIn } from '../../exchange/symbol.ts';
import { claimRefusalIn, type UnaskedRefusal } from '../../make/claim-refusal-in.ts';
import { ready } from '../../make/readied.ts';
import { doorOf } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, refusalFor } from '../../model/refused-as.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

const fact: FactName = { kind: 'time-outs', subject: 'service' };

/** The longest that a time-out is waited for. What the machine waits for itself goes by no clock that can be moved. */
const timeMsMost = 12_000;

/** A body that does not come is not waited for longer than stated, nor a connection kept on which nothing is asked. */
export const times: Trial = {
  name: 'limits/times',
  part: 'limits',
  about:
    'A request whose body does not arrive, and a connection that says nothing, are ended once their time is over, and not long before.',
  noise: 'quiet',
  outlastsTime: true,
  *cases(model) {
    const stated = statedValue(model.spec.limits.timeout);
    const operation = bodyTaker(model);
    if (stated?.requestMs !== undefined && operation) yield slowBody(model, operation, stated.requestMs);
    if (stated?.idleMs !== undefined) yield idleConnection(model, stated.idleMs, timeMsMost);
  },
};

function bodyTaker(model: Model): Operation | undefined {
  return model.operations.find((operation) => {
    const { endpoint } = operation;
    if (!endpoint || !isStated(model.requestShape(endpoint)) || statedValue(endpoint.does)?.verb !== 'create') return false;
    return model.callers.some((caller) => model.access.allows(operation, caller) === 'yes');
  });
}

/** What became of a request whose body never came. */
interface Awaited {
  /** How long the service waited, by its own clock, which others may have moved meanwhile; nothing where it still does. */
  readonly ms: number | undefined;
  readonly answer: UnaskedRefusal | undefined;
}

function slowBody(model: Model, operation: Operation, requestMs: number): Case {
  return {
    name: `${operation.name} with a body that does not come`,
    facts: [fact, ...conditionFacts(model, 'limit.time', operation)],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined && requestMs <= timeMsMost, `it takes ${requestMs / 1000} s`);
      const mostMs = requestMs * 1.5 + 5_000;
      const { request } = await ready(session, endpoint);
      const awaited = await session.do(stopping(request, mostMs));
      claimRefusalIn<Awaited>(session, {
        done: awaited,
        when: 'limit.time',
        operation,
        what: 'a body that does not come',
        shrinkingRuns: 2,
        // That the connection is closed without an answer, or by a server that knows nothing of codes, is as good.
        answerIn: ({ ms = 0, answer }) => (ms >= requestMs / 2 && answer && answer.text !== '' ? answer : undefined),
      });
      session.claim({
        fact,
        reason: 'request',
        at: `${model.spec.limits.timeout.at}/request`,
        of: [awaited],
        // Each look takes as long as the time-out, and there is little to leave out.
        shrinkingRuns: 1,
        judge: ({ ms, answer }: Awaited): Judgement => {
          const status = answer?.status;
          const promised = `a request has ${requestMs / 1000} s`;
          if (ms === undefined) return { promised, seen: `after ${Math.round(mostMs) / 1000} s its body was still waited for` };
          if (status !== undefined && status < 400) return moot('it was answered before its body had come');
          const refusal = refusalFor(model, 'limit.time', operation);
          // What is refused at once was refused for something else.
          if (status !== undefined && status !== refusal?.status && status !== 408 && status !== 503)
            return moot(`it was answered ${status}`);
          return ms >= requestMs / 2 ? undefined : { promised, seen: `it was ended after ${ms / 1000} s` };
        },
      });
    },
  };
}

/** More than this is read of no answer here. */
const lengthMax = 65_536;

/** The step that sends the head of a request, promises a body and sends one byte of it. */
function stopping(plan: RequestPlan, mostMs: number): Step<Awaited> {
  return {
    says: `${plan.method} ${plan.template}, with one byte of a body of 64`,
    takes: [...capturesIn(plan.path), ...(plan.body && 'value' in plan.body ? capturesIn(plan.body.value) : [])],
    isWait: true,
    act(run) {
      const { outgoing } = concrete(plan, run);
      run.client.count(run);
      const { socket, host } = connectTo(run.client.origin);
      const startMs = run.clock.toService(Date.now());
      const waitedMs = () => run.clock.latest(Date.now()) - startMs;
      return new Promise((resolve) => {
        let text = '';
        let endedMs: number | undefined;
        const done = (ms: number | undefined) => {
          stop();
          socket.destroy();
          resolve({ ms, answer: answerIn(text) });
        };
        const stop = afterOwnTime(mostMs, () => done(undefined));
        socket.on('data', (piece: Buffer) => {
          text = (text + piece.toString('latin1')).slice(0, lengthMax);
          // To be told to go on is no answer.
          text = text.replace(/^HTTP\/1\.1 100[\s\S]*?\r\n\r\n/, '');
          // The body of the answer is on its way by then.
          if (endedMs === undefined && /^HTTP\/1\.1 \d{3}/.test(text)) {
            endedMs = waitedMs();
            setTimeout(() => done(endedMs), 100);
          }
        });
        socket.on('close', () => done(endedMs ?? waitedMs()));
        socket.on('error', () => {});
        const headers = Object.entries({ ...outgoing.headers, host, 'content-length': '64' });
        socket.write(
          `${outgoing.method} ${outgoing.target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n{`,
        );
      });
    },
    tell: ({ ms, answer }) =>
      ms === undefined ? 'it still waits' : `${answer?.status ?? 'the connection was closed'} after ${ms} ms`,
    shell: (names) => rawOf(plan, names, { length: 64, body: '{', ms: mostMs }),
  };
}

/** The answer in what came over a connection; nothing where none did. */
function answerIn(received: string): UnaskedRefusal | undefined {
  const [head = '', text = ''] = received.split(/\r\n\r\n(.*)/s);
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
  const headers = [...head.matchAll(/\r\n([^:\r]+): *([^\r]*)/g)].map(([, name = '', value = '']) => [name.toLowerCase(), value]);
  return status === undefined ? undefined : { status: Number(status), headers: Object.fromEntries(headers), text };
}

/** What became of a connection on which nothing more was asked. */
interface Kept {
  /** Whether its one request was answered, and the connection then kept. */
  readonly isKept: boolean;
  /** How long after the answer it was ended; nothing where it still stands. */
  readonly ms: number | undefined;
}

/** A connection that has had its answer is kept for as long as stated, and no longer. */
function idleConnection(model: Model, idleMs: number, longestMs: number): Case {
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
          stop();
          socket.destroy();
          resolve({ isKept: answeredMs !== undefined && !/\r\nconnection: *close/i.test(text), ms });
        };
        const stop = afterOwnTime(mostMs, () => done(undefined));
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

const tickMs = 100;

/**
 * Acts after so many milliseconds in which this process itself came to run: where others hold the machine up they hold up a service on it too,
 * and that is no time of its. Gives what calls it off.
 */
export function afterOwnTime(ms: number, act: () => void): () => void {
  let left = Math.ceil(ms / tickMs);
  // What came late comes once, however late.
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    act();
  }, tickMs);
  return () => clearInterval(timer);
}

/** A connection to a service that one writes on oneself, and what `Host` is on it. */
export function connectTo(origin: string): { readonly socket: Socket; readonly host: string } {
  const url = new URL(origin);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const socket =
    url.protocol === 'https:' ? connectSecurely({ host: name, port, servername: name }) : connect({ host: name, port });
  return { socket, host: url.host };
}
