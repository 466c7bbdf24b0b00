import { isMap } from '../../../document/values.ts';
import { standsFor } from '../../../kinds/formats/all.ts';
import type { ErrorCondition } from '../../../parts/conditions.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import type { Sizes } from '../../../parts/limits.ts';
import type { Operation } from '../../../parts/operations.ts';
import { pathParameters, requestShape } from '../../../parts/payload.ts';
import { toJsonSchema } from '../../../parts/schemas.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { resolve } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import type { Allowed } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts, isOfNobody, isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

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
    facts: [sizesFact, ...conditionFacts(model, 'limit.size.url')],
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
      const isSent = bytes > 4 * headerSlack && bytes <= 64 * 1024;
      session.need(endpoint !== undefined && isSent, `headers of ${bytes} bytes are not sent`);
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

const sizesFact: FactName = { kind: 'size limits', subject: 'service' };

/** How a body comes whose length nobody tells before. */
export const inChunks = 'body in chunks';

/** The largest body that is sent. */
const bodyBytesMost = 20 * 1024 * 1024;

/** What is as large as it is, and how large it may be. */
export interface Sized {
  readonly what: string;
  readonly bytes: number;
  readonly size: (seen: TrialExchange) => number;
  readonly at: keyof Sizes;
  /** How it is sent, where that is another look. */
  readonly how?: string;
  /** The same in small, which is taken. */
  readonly control?: RequestPlan;
}

/** Claims that what is within a bound is not said to be too large, and that what is beyond it is, by the stated code. */
function claimSize(session: Session, operation: Operation, done: Done<TrialExchange>, sized: Sized): void {
  const { model } = session;
  const { what, bytes, size, at, how, control } = sized;
  const when = at === 'url' || at === 'headers' ? (`limit.size.${at}` as const) : 'limit.size';
  const isRefused = session.claim({
    fact: sizesFact,
    reason: `${how ?? at} ${size(done.value) > bytes ? 'above' : 'up to'} the bound`,
    at: `${model.spec.limits.size.at}/${at}`,
    of: [done] as const,
    control,
    judge: (seen: TrialExchange): Judgement => {
      // RFC 9110 section 15.5.12: a server may insist on being told a length.
      if (seen.status === 411) return moot('it wants to be told a length');
      const [own, isTooLarge] = [size(seen), isSizeRefusal(model, operation, seen, when)];
      const bound = `${bytes} are allowed`;
      if (own <= bytes && isTooLarge)
        return { promised: `${what} of ${own} bytes is not too large: ${bound}`, seen: `it was answered ${seen.status}` };
      if (isOfNobody(model, seen, operation)) return moot('its credential is not taken');
      if (own > bytes && !isTooLarge)
        return { promised: `${what} of ${own} bytes is too large: ${bound}`, seen: `it was answered ${seen.status}` };
      return undefined;
    },
  });
  // Headers may be counted before anybody looks at what is asked for, by a server that knows nothing of codes.
  const isOfServer = at === 'headers' && model.refusals.codeIn(done.value) === undefined;
  if (!isRefused || isOfServer || size(done.value) <= bytes || done.value.status === 411) return;
  const isSo = (seen: TrialExchange) => size(seen) > bytes && seen.status >= 400 && seen.status !== 411;
  claimRefusedAs(session, done, {
    by: { when },
    what: `${what} of more than ${bytes} bytes`,
    isSo,
    ...(control && { control }),
  });
}

/** By its stated refusal, or by one of the statuses that HTTP has for it. */
function isSizeRefusal(model: Model, operation: Operation, seen: TrialExchange, when: ErrorCondition): boolean {
  const refusal = refusalFor(model, when, operation);
  if (refusal && isRefusal(model, seen, refusal) && isRefused(model, seen)) return true;
  return [413, 414, 431].includes(seen.status);
}

/** An operation that takes a form with a file in it, and the field of the file. */
export interface FileTaker {
  readonly operation: Operation;
  readonly field: string;
}

/** Where a file can be sent by somebody who surely may. */
function fileTaker(model: Model): FileTaker | undefined {
  for (const operation of model.operations) {
    const { endpoint } = operation;
    if (!endpoint?.consumes?.some((type) => type.startsWith('multipart/form-data'))) continue;
    const shape = statedValue(requestShape(model.spec, endpoint));
    const field = shape && fileIn(model, shape);
    const isSure = model.callers.some((caller) => model.access.allows(operation, caller) === 'yes');
    if (field !== undefined && (isSure || model.access.isPublic(operation))) return { operation, field };
  }
  return undefined;
}

function fileIn(model: Model, shape: Shape): string | undefined {
  const { properties } = toJsonSchema(model.spec, shape, 'sent');
  const found = Object.entries(isMap(properties) ? properties : {}).find(
    ([, one]) => isMap(one) && standsFor(one.format, 'bytes'),
  );
  return found?.[0];
}

const boundary = 'ninefold-file-boundary';

/** A file of the stated size in a form is not too large, and one of one byte more is. */
function fileCase(model: Model, { operation, field }: FileTaker, bytes: number): Case {
  return {
    name: `${operation.name} with a file of ${bytes} bytes, and of one more`,
    facts: [sizesFact, ...conditionFacts(model, 'limit.size', operation)],
    async run(session: Session) {
      const { endpoint } = operation;
      const bodyBytes = statedValue(model.spec.limits.size)?.body ?? bodyBytesMost;
      session.need(endpoint !== undefined && bytes < bodyBytesMost, `files of ${bytes} bytes are not sent`);
      session.need(bytes + 2048 < bodyBytes, 'a body that is too large would be refused before its file is looked at');
      for (const length of [bytes, bytes + 1]) {
        const { request } = await ready(session, endpoint);
        const { body } = request;
        session.need(body !== undefined && 'value' in body, `no body is known for ${operation.name}`);
        const drawn = resolve(body.value, session.run);
        const text = formWith(isMap(drawn) ? drawn : {}, field, length);
        const done = await session.send({ ...request, body: { text, type: `multipart/form-data; boundary=${boundary}` } });
        claimSize(session, operation, done, { what: 'a file', bytes, size: fileSize, at: 'file' });
      }
    },
  };
}

function formWith(members: Readonly<Record<string, unknown>>, field: string, length: number): string {
  const parts = Object.entries({ ...members, [field]: '' }).map(([name, value]) => {
    const disposition = `Content-Disposition: form-data; name="${name}"`;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const inner =
      name === field
        ? `${disposition}; filename="nf.bin"\r\nContent-Type: application/octet-stream\r\n\r\n${'x'.repeat(length)}`
        : `${disposition}\r\n\r\n${text}`;
    return `--${boundary}\r\n${inner}\r\n`;
  });
  return `${parts.join('')}--${boundary}--\r\n`;
}

/** The bytes of the file in a form as it was sent. */
function fileSize({ sent }: TrialExchange): number {
  const text = sent.text ?? '';
  const start = text.indexOf('application/octet-stream\r\n\r\n') + 'application/octet-stream\r\n\r\n'.length;
  return text.indexOf(`\r\n--${boundary}`, start) - start;
}
