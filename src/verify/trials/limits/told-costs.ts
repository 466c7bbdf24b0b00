import { rateKind } from '../../../kinds/limits/all.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { isUncounted, type Rate } from '../../../parts/limits.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { missingIdentifier } from '../../model/missing-identifier.ts';
import type { Model } from '../../model/model.ts';
import { refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { applies, askersOf, type CountedOperation, capacityOf, costOf, countedRequest, ratesFor } from './counted.ts';
import { leftIn, ratesFact } from './rate-told.ts';

/** Where it is told what is left of a rate, it is less by what each operation costs, and by nothing where nothing is counted. */
export const toldCosts: Trial = {
  name: 'limits/told costs',
  part: 'limits',
  about:
    'What is told to be left of a rate is less by what each operation is stated to cost, and no less after answers that are not counted.',
  noise: 'loud',
  *cases(model) {
    for (const counted of countedOnes(model))
      yield { name: `${counted.operation.name} ${counted.reason}`, facts: [ratesFact], run: (session) => ask(session, counted) };
  },
};

/** What one request counts in a rate of which it is told what is left, and how that is looked at. */
interface Counted extends CountedOperation {
  readonly rate: Rate;
  /** The answer that is brought about; what the operation does where none is said. */
  readonly status: number | undefined;
  /** The reason of its claim. */
  readonly reason: string;
}

/** So many operations are looked at of each rate, those first that cost something else than one. */
const operationsMost = 12;

/** All that is looked at: each stated cost, some that cost one, and each answer that is not counted, of rates of which is told what is left. */
export function countedOnes(model: Model): readonly Counted[] {
  if (statedValue(model.spec.limits.headers)?.remaining === undefined) return [];
  return (statedValue(model.spec.limits.rate) ?? []).flatMap((rate) => {
    const told = model.operations.flatMap((operation): CountedOperation[] => {
      const caller = operation.endpoint && askersOf(model, operation).find((one) => isTold(model, rate, operation, one));
      return caller === undefined ? [] : [{ operation, caller }];
    });
    const rank = ({ operation }: CountedOperation) =>
      (costOf(rate, operation) === 1 ? 1 : 0) + (operation.endpoint?.method === 'GET' ? 0 : 0.5);
    const costs = told
      .toSorted((one, other) => rank(one) - rank(other))
      .slice(0, operationsMost)
      .map((one): Counted => ({ ...one, rate, status: undefined, reason: `costs ${costOf(rate, one.operation)}` }));
    const free = (rate.uncounted ?? []).length === 0 ? [] : freeAnswers(model, rate, told);
    return [...costs, ...free];
  });
}

/** The reason of a claim that an answer counts nothing. */
export const uncountedAs = (status: number): string => `uncounted ${status}`;

/** Answers that are not counted: that nothing has changed, that nothing is there, that what was sent is wrong. */
function freeAnswers(model: Model, rate: Rate, told: readonly CountedOperation[]): Counted[] {
  const [invalid] = told.flatMap(({ operation }) => refusalFor(model, 'request.invalid', operation)?.status ?? []);
  const statuses = [304, 404, ...(invalid === undefined ? [] : [invalid])];
  return [...new Set(statuses)].flatMap((status): Counted[] => {
    const one = isUncounted(rate, status) ? told.find(({ operation }) => mayBeAnswered(model, operation, status)) : undefined;
    return one ? [{ ...one, rate, status, reason: uncountedAs(status) }] : [];
  });
}

/** Whether what is told to be left is that of this rate, for all that is known before: it counts alone, or its limit is told beside it. */
function isTold(model: Model, rate: Rate, operation: CountedOperation['operation'], caller: CountedOperation['caller']): boolean {
  const all = ratesFor(model, operation, caller);
  const isOne = all.filter(({ limit }) => limit === rate.limit).length === 1;
  const isNamed = all.length === 1 || statedValue(model.spec.limits.headers)?.limit !== undefined;
  return caller !== undefined && isOne && isNamed && applies(model, rate, operation, caller) === 'yes';
}

function mayBeAnswered(model: Model, { endpoint }: CountedOperation['operation'], status: number): boolean {
  if (endpoint === undefined) return false;
  if (status !== 304 && status !== 404) return isStated(model.requestShape(endpoint));
  const verb = statedValue(endpoint.does)?.verb;
  if (verb === undefined || verb === 'upsert' || identifierParameter(endpoint) === undefined) return false;
  return status === 404 || (verb === 'read' && endpoint.etag !== undefined);
}

async function ask(session: Session, counted: Counted): Promise<void> {
  const { model } = session;
  const { operation, caller, rate, status, reason } = counted;
  const request = await countedRequest(session, counted);
  const plan = status === undefined ? request : await answeredSo(session, request, operation.resource ?? '', status);
  const probe = await probing(session, counted, request);
  const before = await session.send(probe);
  const done = await session.send(plan);
  session.claim({
    fact: ratesFact,
    reason,
    at: rate.at,
    of: [before, done],
    ...(status !== undefined && status >= 400 && { control: request }),
    judge: (one: TrialExchange, two: TrialExchange): Judgement => {
      if (status === undefined ? !isDone(two) : two.status !== status) return moot(`it was answered ${two.status}`);
      if ([one, two].some((each) => !speaksOf(model, each, rate))) return moot('what is told to be left is of another rate');
      const [was, is] = [leftOf(model, one), leftOf(model, two)];
      if (was === undefined || is === undefined) return moot('it is not told what is left');
      const cost = isUncounted(rate, two.status) ? 0 : costOf(rate, operation);
      const flaw = flawOf(rate, cost, was, is, two.toMs - one.fromMs);
      if (flaw === undefined) return undefined;
      return {
        promised: `${operation.name}, answered ${two.status} to ${caller?.name ?? 'nobody'}, ${flaw}`,
        seen: `${was} were left before it, and ${is} after it`,
      };
    },
  });
}

/** What is wrong with what is left after a request that counts so much; nothing where it may be so. */
function flawOf(rate: Rate, cost: number, was: number, is: number, spreadMs: number): string | undefined {
  const most = capacityOf(rate);
  const regained = rateKind(rate.kind).mostWithin(rate, spreadMs) - most;
  // What is told are whole numbers, of what may be fractions.
  const isExact = regained === 0 && Number.isInteger(cost);
  const drop = was - is;
  if (drop > Math.ceil(cost)) return `counts ${cost} of the rate`;
  const isAnew = is === Math.floor(most - cost);
  const least = isExact ? cost : Math.floor(cost - regained - 1);
  return drop < least && !isAnew ? `counts ${cost} of the rate` : undefined;
}

/** Whether an answer tells what is left of this rate, and not of another one that is stricter by now. */
function speaksOf(model: Model, { headers, endpoint, caller }: TrialExchange, { limit }: Rate): boolean {
  if (endpoint && ratesFor(model, model.operationOf(endpoint), caller).length === 1) return true;
  const name = statedValue(model.spec.limits.headers)?.limit?.toLowerCase() ?? '';
  return Number(headers[name] ?? Number.NaN) === limit;
}

/** What an answer tells to be left. */
function leftOf({ spec }: Model, { headers }: TrialExchange): number | undefined {
  const name = statedValue(spec.limits.headers)?.remaining?.toLowerCase() ?? '';
  const told = headers[name] ?? '';
  if (/^\d+$/.test(told)) return Number(told);
  const left = leftIn(told);
  return left.length === 1 ? left[0] : undefined;
}

/** A reading request of the same caller that the rate counts; the request itself where it reads, another of its kind where it counts no reading. @throws {Untestable} */
async function probing(session: Session, counted: Counted, request: RequestPlan): Promise<RequestPlan> {
  const { model } = session;
  const { rate, caller, operation } = counted;
  if (operation.endpoint?.method === 'GET') return request;
  for (const { operation: other } of readersOf(model, rate, caller)) {
    const made = await ifTestable(countedRequest(session, { operation: other, caller }));
    if (made) return made;
  }
  return countedRequest(session, counted);
}

function readersOf(model: Model, rate: Rate, caller: CountedOperation['caller']): readonly CountedOperation[] {
  const reading = model.operations.filter(
    ({ endpoint }) => endpoint?.method === 'GET' && statedValue(endpoint.does) !== undefined,
  );
  return reading
    .filter((operation) => askersOf(model, operation).includes(caller) && isTold(model, rate, operation, caller))
    .map((operation) => ({ operation, caller }))
    .slice(0, readersMost);
}

const readersMost = 3;

/** The request as it is answered so: about a row that there is not, or with the tag that it was answered with. @throws {Untestable} */
export async function answeredSo(session: Session, request: RequestPlan, resource: string, status: number): Promise<RequestPlan> {
  if (status === 304) {
    const shown = await session.send(request);
    session.need(shown.value.headers.etag !== undefined, 'it shows no ETag');
    return { ...request, headers: { ...request.headers, 'If-None-Match': session.capturedHeader(shown, 'ETag') } };
  }
  if (status !== 404) return { ...request, body: { value: [], type: 'application/json' } };
  const name = request.endpoint && identifierParameter(request.endpoint);
  const missing = missingIdentifier(session.model, resource);
  session.need(name !== undefined && missing !== undefined, `of ${resource} no identifier that nothing has is known`);
  return { ...request, path: { ...request.path, [name]: missing } };
}
