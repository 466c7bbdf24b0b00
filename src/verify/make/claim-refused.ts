import type { Pointer } from '../../document/document.ts';
import { type ErrorCondition, generalCondition } from '../../parts/conditions.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { namesOperation } from '../../parts/operations.ts';
import { asText } from '../exchange/as-text.ts';
import { type Control, type FactName, type Flaw, type Judgement, moot } from '../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import { sentKeepsRules } from '../model/field-rules.ts';
import type { Model } from '../model/model.ts';
import { type StatedRefusal, statusFact } from '../model/refusals.ts';
import { isAskedByNobody } from '../model/refused-as.ts';
import type { Session } from '../session/session.ts';
import { childrenSent, mayBeDenied } from './denied.ts';

/** What has to be refused, and why. */
export interface Refusing {
  /** The condition of the closed list, or the code itself. `or`: what it may as well be, where nothing says which of them it is. */
  readonly by: { readonly when: ErrorCondition; readonly or?: readonly ErrorCondition[] } | { readonly code: string };
  /** The fact that is broken where it is not refused at all. */
  readonly fact: FactName;
  readonly reason: string;
  /** What is not allowed, for people: `a weight_g of 0`. */
  readonly what: string;
  readonly at?: Pointer;
  /** Asked of every exchange that is judged, in replays too: whether it really is what has to be refused, seen beside these. */
  readonly isSo?: (exchange: TrialExchange, ...beside: readonly TrialExchange[]) => boolean;
  /** Asked of what was not refused so: whether something else that is due may have made it another matter meanwhile. */
  readonly isOvertaken?: (exchange: TrialExchange, ...beside: readonly TrialExchange[]) => boolean;
  readonly beside?: readonly Done<TrialExchange>[];
  /** As a claim's. */
  readonly control?: Control | undefined;
  readonly tries?: number;
}

/**
 * Claims three things of an exchange, each a fact of its own: that it was refused, that the code is the condition's, and that
 * the status is the code's. Returns whether it was refused.
 */
export function claimRefused(session: Session, done: Done<TrialExchange>, refusing: Refusing): boolean {
  const { model } = session;
  const { fact, reason, what, at, control } = refusing;
  // Whether it is refused is left to the implementation: nothing of it is promised.
  if ('when' in refusing.by && isOfRequest(refusing.by.when) && model.refusals.standingOf(refusing.by.when) === 'left open')
    return false;
  const of: readonly [Done<TrialExchange>, ...Done<TrialExchange>[]] = [done, ...(refusing.beside ?? [])];
  const meant = (exchange: TrialExchange, beside: readonly TrialExchange[], isRefusal = false): Judgement => {
    if (model.refusals.isHurried(exchange)) return moot('the service had too much to do');
    if (model.refusals.isOpen(exchange)) return moot('the service says that it cannot do this');
    if (isRefusal && !isOfCaller && isAskedByNobody(model, exchange)) return moot('nobody may ask for it without a credential');
    // What failed was not refused: whether it is the right refusal is claimed by its code.
    if (exchange.status >= 500 && isRefusal) return moot('the service failed');
    return refusing.isSo?.(exchange, ...beside) === false ? moot('it is not what has to be refused') : undefined;
  };
  const isOfCaller = 'when' in refusing.by && refusing.by.when.startsWith('caller.');
  const stated = statedRefusals(model, refusing, done.value.endpoint);
  const refused = session.claim({
    fact,
    reason,
    of,
    control,
    ...(at !== undefined && { at }),
    judge: (exchange: TrialExchange, ...beside: readonly TrialExchange[]) =>
      meant(exchange, beside, true) ??
      (isDone(exchange) || exchange.status < 400
        ? unlessOvertaken(refusing, [exchange, ...beside], {
            promised: `${what} is refused`,
            seen: `${exchange.status}${briefly(exchange)}`,
          })
        : forAnother(model, exchange, refusing.by, stated)),
  });
  if (refused) claimCode(session, of, stated, refusing, meant);
  return refused;
}

/** Whether a condition is about how something is asked, and not about who may do it or what there is. */
const isOfRequest = (when: ErrorCondition): boolean => when.startsWith('request.') || when === 'limit.page';

/** What was refused for something else shows nothing of what it was to be refused for: whether its code is right is claimed by itself. */
function forAnother(model: Model, exchange: TrialExchange, by: Refusing['by'], stated: readonly StatedRefusal[]): Judgement {
  const isOfThis = 'code' in by || ofWhatIsSent.some((sort) => by.when.startsWith(sort));
  const code = isOfThis ? model.refusals.codeIn(exchange) : undefined;
  // A code that nobody stated is the payload's business.
  const isOther = code !== undefined && stated.length > 0 && stated.every((one) => one.code.name !== code);
  return isOther && model.refusals.named(code, undefined) ? moot(`it was refused for something else: ${code}`) : undefined;
}

/** The conditions of what is sent: who is not allowed, or asks for what is not there, may be told the one or the other. */
const ofWhatIsSent = ['request.', 'reference.', 'resource.exists', 'precondition.', 'transition.'];

function unlessOvertaken(
  { isOvertaken }: Pick<Refusing, 'isOvertaken'>,
  [exchange, ...beside]: readonly [TrialExchange, ...TrialExchange[]],
  flaw: Flaw,
): Judgement {
  return isOvertaken?.(exchange, ...beside) ? moot('the clock had something to do with it meanwhile') : flaw;
}

/** Claims of what was refused that its code is the condition's, and the status the code's; that it was refused is another claim's. */
export function claimRefusedAs(session: Session, done: Done<TrialExchange>, refusing: Omit<Refusing, 'fact' | 'reason'>): void {
  const { beside = [], isSo } = refusing;
  const stated = statedRefusals(session.model, refusing, done.value.endpoint);
  const { refusals } = session.model;
  const isOfLimits = 'when' in refusing.by && refusing.by.when.startsWith('limit.');
  const meant = (exchange: TrialExchange, seen: readonly TrialExchange[]): Judgement => {
    if (!isOfLimits && (refusals.isHurried(exchange) || refusals.isOpen(exchange))) return moot('it could not be done now');
    return isSo?.(exchange, ...seen) === false ? moot('it is not what has to be refused') : undefined;
  };
  claimCode(session, [done, ...beside], stated, refusing, meant);
}

type RefusingAs = Pick<Refusing, 'by' | 'what' | 'tries' | 'control' | 'isOvertaken'>;
type Meant = (exchange: TrialExchange, beside: readonly TrialExchange[]) => Judgement;
type Refused = readonly [Done<TrialExchange>, ...Done<TrialExchange>[]];

const isRefused = (exchange: TrialExchange) => (exchange.status < 400 ? moot('it was not refused') : undefined);

function claimCode(
  session: Session,
  of: Refused,
  [stated, ...narrower]: readonly StatedRefusal[],
  refusing: RefusingAs,
  meant: Meant,
): void {
  if (!stated) return;
  const { model } = session;
  const { by, what, tries, control } = refusing;
  const { name } = stated.code;
  const isNarrower = (code: string | undefined) => narrower.some((one) => one.code.name === code);
  if (model.refusals.tells(name)) {
    session.claim({
      fact: { kind: 'conditions', subject: name },
      reason: 'code',
      of,
      control,
      at: stated.rule.at,
      ...('when' in by && { condition: by.when }),
      ...(tries !== undefined && { tries }),
      judge(exchange: TrialExchange, ...beside: readonly TrialExchange[]) {
        const code = model.refusals.codeIn(exchange);
        if (isNarrower(code)) return moot('it is a narrower one');
        // That a refusal has a code is the payload's business.
        if (code === undefined && exchange.status < 500 && exchange.status >= 400) return moot('it shows no code');
        const other =
          code === undefined || code === name ? undefined : whyAnother(model, [exchange, ...beside], code, stated, by);
        if (other !== undefined) return moot(other);
        const wrong = {
          promised: `${name}, for ${what}`,
          seen: `${exchange.status} ${code ?? 'without a code'}${briefly(exchange)}`,
        };
        if (code === name) return meant(exchange, beside) ?? isRefused(exchange);
        return meant(exchange, beside) ?? isRefused(exchange) ?? unlessOvertaken(refusing, [exchange, ...beside], wrong);
      },
    });
  }
  // Which refusal a condition comes to was else only read off its status.
  if (stated.status !== undefined && model.spec.errors.codes.standing !== 'inferred')
    claimStatus(session, of, stated, refusing, meant);
}

function claimStatus(session: Session, of: Refused, stated: StatedRefusal, refusing: RefusingAs, meant: Meant): void {
  const { model } = session;
  const { by, what, tries, control } = refusing;
  const { status } = stated;
  session.claim({
    fact: statusFact(stated),
    reason: 'status',
    of,
    control,
    ...(tries !== undefined && { tries }),
    judge(exchange: TrialExchange, ...beside: readonly TrialExchange[]) {
      const code = model.refusals.codeIn(exchange);
      if (model.refusals.tells(stated.code.name) && code !== stated.code.name) return moot('it is another code');
      return (
        meant(exchange, beside) ??
        isRefused(exchange) ??
        (exchange.status === status
          ? undefined
          : (unlessAnother(model, [exchange, ...beside], stated, by) ?? {
              promised: `${status}, for ${what}`,
              seen: asText(exchange.status),
            }))
      );
    },
  });
}

/** What was refused, and what was seen beside it. */
type Seen = readonly [TrialExchange, ...TrialExchange[]];

/** What is moot of a refusal that shows no code, since its status is that of another one that may be right. */
function unlessAnother(model: Model, seen: Seen, stated: StatedRefusal, by: Refusing['by']): Judgement {
  const [exchange] = seen;
  if (model.refusals.codeIn(exchange) !== undefined) return undefined;
  const alike = model.refusals.all().filter(({ status }) => status === exchange.status);
  const why = alike.map(({ code }) => whyAnother(model, seen, code.name, stated, by)).find((one) => one !== undefined);
  return why === undefined ? undefined : moot(why);
}

/** Why another code than what was wrong has may be right; nothing where it is not. */
function whyAnother(
  model: Model,
  [exchange, ...beside]: Seen,
  code: string,
  stated: StatedRefusal,
  by: Refusing['by'],
): string | undefined {
  const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
  const meant = 'when' in by ? generalCondition(by.when) : undefined;
  const isOneOf = (when: ErrorCondition) => model.refusals.codesFor(when, operation).includes(code);
  // What the caller is refused for is what is asked here.
  if (meant?.startsWith('caller.') && isOneOf(meant)) return undefined;
  // Whether a credential is good there is another trial's.
  if (isOneOf('caller.unknown')) return 'the caller is not known there';
  if (mayBeDenied(model, exchange, code, beside)) return 'the caller may not be allowed to';
  // Of several things that are wrong with a body, no document says which is told.
  if (isOneOf('request.invalid.value') && sentKeepsRules(model, exchange.endpoint, exchange.sent.json) === 'no')
    return 'a rule over several fields is broken as well';
  return mayComeFirst(model, exchange, code, stated, meant) ? 'an error of its own may come first' : undefined;
}

/** What is only asked once a change is about to be stored, and so stands behind the service's own errors. */
const lastOfAll: ReadonlySet<string> = new Set<ErrorCondition>(['resource.exists', 'limit.quota']);

/** Whether a refusal is an error of the service's own at that operation, which is found before what is asked last. */
function mayComeFirst(
  model: Model,
  { endpoint }: TrialExchange,
  code: string,
  { rule }: StatedRefusal,
  meant: ErrorCondition | undefined,
): boolean {
  // A code may stand for more than what is wrong here.
  const isLast =
    meant === undefined ? statedValue(rule.when)?.every((when) => lastOfAll.has(when)) === true : lastOfAll.has(meant);
  if (!isLast || !endpoint) return false;
  const operation = model.operationOf(endpoint);
  const along = childrenSent(model, endpoint).map(([, { resource }]) => `create ${resource}`);
  const isOf = (on: readonly string[]) => namesOperation(on, operation) || along.some((one) => on.includes(one));
  return model.refusals
    .all()
    .some(({ code: own, rule: its }) => own.name === code && its.if !== undefined && its.on !== undefined && isOf(its.on));
}

/** What it may be refused with; the first is what the fact is about. */
function statedRefusals(model: Model, { by }: Pick<Refusing, 'by'>, endpoint: Endpoint | undefined): readonly StatedRefusal[] {
  const operation = endpoint && model.operationOf(endpoint);
  if ('when' in by) return [by.when, ...(by.or ?? [])].flatMap((when) => model.refusals.among(when, operation));
  const named = model.refusals.named(by.code, operation);
  return named ? [named] : [];
}
