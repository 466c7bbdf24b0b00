import { isStated, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { resolve } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { ready } from '../../make/readied.ts';
import type { Allowed } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts } from '../../model/refused-as.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { fileCase, fileTaker } from './file-size.ts';
import { bodyBytesMost, claimSize, inChunks, sizesFact } from './size-claim.ts';

/** How headers are counted is not the same everywhere: with their line ends or without, with the request line or without. */
const headerSlack = 768;

/** Sizes hold to the byte: what is as large as stated passes, one byte more is refused. */
export const sizes: Trial = {
  name: 'limits/sizes',
  part: 'limits',
  about:
    'A body, a file and an address of the stated size pass and one byte more is `limit.size`; headers that are well below pass, well above do not.',
  noise: 'quiet',
  *cases(model) {
    const stated = statedValue(model.spec.limits.size);
    if (!stated) return;
    const body = bodyTaker(model);
    if (stated.body !== undefined && body) {
      yield bodyCase(model, body, stated.body);
      yield bodyCase(model, body, stated.body, inChunks);
    }
    const file = fileTaker(model);
    if (stated.file !== undefined && file) yield fileCase(model, file, stated.file);
    const door = quietDoor(model);
    if (stated.url !== undefined && door) yield addressCase(model, door, stated.url);
    if (stated.headers !== undefined && door) yield headersCase(model, door, stated.headers);
  },
};

/** An operation that takes JSON and that somebody may surely do. */
function bodyTaker(model: Model): Operation | undefined {
  return model.operations.find(({ endpoint, ...operation }) => {
    if (!endpoint || !isStated(model.requestShape(endpoint)) || statedValue(endpoint.does)?.verb !== 'create') return false;
    if (endpoint.consumes && endpoint.consumes[0] !== 'application/json') return false;
    return model.callers.some((caller) => model.access.allows({ ...operation, endpoint }, caller) === 'yes');
  });
}

/** An operation that changes nothing, and that somebody may surely do. */
function quietDoor(model: Model): Operation | undefined {
  const all = model.operations.filter(({ endpoint }) => endpoint?.method === 'GET' && pathParameters(endpoint.path).length === 0);
  const isFor = (operation: Operation, answers: readonly Allowed[]): boolean =>
    model.callers.some((caller) => answers.includes(model.access.allows(operation, caller)));
  return (
    all.find((operation) => model.access.isPublic(operation)) ??
    all.find((operation) => isFor(operation, ['yes'])) ??
    // Of a list a condition over its rows leaves out rows, and refuses nobody.
    all.find((operation) => statedValue(operation.endpoint?.does)?.verb === 'list' && isFor(operation, ['yes', 'unknown']))
  );
}

function callerFor(session: Session, operation: Operation): TrialCaller | undefined {
  const { model } = session;
  return model.access.isPublic(operation) || !operation.endpoint ? undefined : callersFor(session, operation.endpoint)[0];
}

function bodyCase(model: Model, operation: Operation, bytes: number, how?: string): Case {
  return {
    name: `${operation.name} with a ${how ?? 'body'} of ${bytes} bytes, and of one more`,
    facts: [sizesFact, ...conditionFacts(model, 'limit.size', operation)],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined && bytes <= bodyBytesMost, `bodies of ${bytes} bytes are not sent`);
      for (const length of [bytes, bytes + 1]) {
        const { request } = await ready(session, endpoint);
        const { body } = request;
        session.need(body !== undefined && 'value' in body, `no body is known for ${operation.name}`);
        // Spaces behind a JSON text mean nothing.
        const text = JSON.stringify(resolve(body.value, session.run)).padEnd(length, ' ');
        const done = await session.send({ ...request, body: { text, type: body.type, ...(how && { isChunked: true }) } });
        const size = (seen: TrialExchange) => Buffer.byteLength(seen.sent.text ?? '');
        claimSize(session, operation, done, { what: `a ${how ?? 'body'}`, bytes, size, at: 'body', ...(how && { how }) });
        if (length === bytes && !how)
          session.claim({
            fact: sizesFact,
            reason: 'the largest body is taken',
            of: [done],
            judge: (seen: TrialExchange) => takenJudgement(seen, bytes),
          });
      }
    },
  };
}

/** A valid body of the stated size is taken as it would be without the spaces: at least not as unreadable. */
function takenJudgement(seen: TrialExchange, bytes: number): Judgement {
  if (isDone(seen)) return undefined;
  return seen.status >= 500 && seen.status !== 501
    ? { promised: `a body of ${bytes} bytes is taken`, seen: `it was answered ${seen.status}` }
    : moot('it was refused for something else');
}

function addressCase(model: Model, operation: Operation, bytes: number): Case {
  return {
    name: `${operation.name} with an address of ${bytes} bytes, and of one more`,
    facts: [sizesFact, ...conditionFacts(model, 'limit.size')],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(endpoint !== undefined && bytes <= 64 * 1024, `addresses of ${bytes} bytes are not sent`);
      const plan = model.request(endpoint, { caller: callerFor(session, operation) });
      for (const length of [bytes, bytes + 1]) {
        const done = await session.send(paddedTo(session, plan, length));
        const size = (seen: TrialExchange) => seen.sent.target.length;
        claimSize(session, operation, done, { what: 'an address', bytes, size, at: 'url', control: plan });
      }
    },
  };
}

/** The request with a query parameter that nobody states, long enough for the whole target to be as long as asked. */
function paddedTo(session: Session, plan: RequestPlan, length: number): RequestPlan {
  const { endpoint: _endpoint, ...bare } = { ...plan, query: { ...plan.query, ninefold: '' } };
  const short = concrete(bare, session.run).outgoing.target.length;
  return { ...bare, query: { ...bare.query, ninefold: 'x'.repeat(Math.max(0, length - short)) } };
}

function headersCase(model: Model, operation: Operation, bytes: number): Case {
  return {
    name: `${operation.name} with headers of about ${bytes} bytes`,
    facts: [sizesFact],
    async run(session: Session) {
      const { endpoint } = operation;
      session.need(
        endpoint !== undefined && bytes > 4 * headerSlack && bytes <= 64 * 1024,
        `headers of ${bytes} bytes are not sent`,
      );
      for (const length of [bytes - headerSlack, bytes + headerSlack]) {
        // Several fields, since some servers bound each of them as well.
        const names = Array.from({ length: Math.ceil(length / 1000) }, (_, at) => `x-ninefold-verify-${at}`);
        const each = Math.floor(length / names.length);
        const headers = Object.fromEntries(names.map((name) => [name, 'x'.repeat(Math.max(1, each - name.length - 4))]));
        const caller = callerFor(session, operation);
        const done = await session.send(model.request(endpoint, { caller, headers }));
        const size = ({ sent }: TrialExchange) =>
          Object.entries(sent.headers).reduce(
            (sum, [name, value]) => sum + (name.startsWith('x-ninefold') ? name.length + value.length + 4 : 0),
            0,
          );
        const control = model.request(endpoint, { caller });
        claimSize(session, operation, done, { what: 'headers', bytes, size, at: 'headers', control });
      }
    },
  };
}
