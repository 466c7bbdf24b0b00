import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { namesOperation } from '../../../parts/operations.ts';
import { requestShape } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { beginBody } from '../../make/begin-body.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { membersSent } from '../../make/fields-sent.ts';
import { type Imagined, imagine } from '../../make/imagined.ts';
import { claimNothingLeft } from '../../make/left-behind.ts';
import { lookAt } from '../../make/look.ts';
import { stage } from '../../make/staged.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import { ownErrorOf } from '../../model/own-condition.ts';
import type { StatedRefusal } from '../../model/refusals.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { bodyBreaks } from '../endpoints/members-begun.ts';

/** The service's own errors arise where their condition holds, and nowhere else; what they refuse changes nothing. */
export const ownErrors: Trial = {
  name: 'errors/own',
  part: 'errors',
  about:
    'An error with a condition of its own arises where that holds, changes nothing, and does not arise just beyond the edge of it.',
  noise: 'quiet',
  *cases(model) {
    for (const stated of model.refusals.all()) {
      for (const endpoint of stated.rule.if ? model.endpoints : []) {
        const operation = model.operationOf(endpoint);
        const effect = statedValue(endpoint.does);
        if (stated.rule.on !== undefined && !namesOperation(stated.rule.on, operation)) continue;
        if (!effect || !('resource' in effect) || effect.verb === 'list') continue;
        yield caseOf(stated, endpoint, effect.resource);
      }
    }
  },
};

function caseOf(stated: StatedRefusal, endpoint: Endpoint, resource: string): Case {
  const fact: FactName = { kind: 'conditions', subject: stated.code.name };
  return {
    name: `${stated.code.name} at ${endpoint.key}`,
    facts: [fact],
    async run(session: Session) {
      const own = { stated, endpoint, resource, fact };
      let why: unknown = new Untestable(`nothing was found for which ${stated.rule.if?.source} holds`);
      let tries = 0;
      for (const imagined of imagine(session, endpoint, stated)) {
        if (tries === triesMost) break;
        tries += 1;
        try {
          await provoke(session, own, imagined);
          if (imagined.unmet) await spare(session, own, imagined);
          return;
        } catch (error) {
          if (!(error instanceof Untestable)) throw error;
          why = error;
        }
      }
      throw why;
    },
  };
}

/** States of what a condition reads that are tried, since not every state can be brought about. */
const triesMost = 4;

interface Own {
  readonly stated: StatedRefusal;
  readonly endpoint: Endpoint;
  readonly resource: string;
  readonly fact: FactName;
}

/** Asks for what the error refuses. */
async function provoke(
  session: Session,
  { stated, endpoint, resource, fact }: Own,
  { slots, met, unmet }: Imagined,
): Promise<void> {
  const { model } = session;
  const { request, beside, row, marks } = await stage(session, endpoint, slots, { scene: met, resource, meant: stated.rule.if });
  const done = await session.send(request);
  const isSo = (exchange: TrialExchange, ...seen: readonly TrialExchange[]) =>
    ownErrorOf(model, stated, exchange, seen, true) === 'yes';
  const seen = beside.map(({ value }) => value);
  session.need(isSo(done.value, ...seen), `whether ${stated.rule.if?.source} holds cannot be seen from outside`);
  const control = unmet && (async () => (await stage(session, endpoint, slots, { scene: unmet, resource })).request);
  claimRefused(session, done, {
    by: { code: stated.code.name },
    fact,
    reason: `arises at ${endpoint.key}`,
    at: stated.rule.at,
    beside,
    isSo,
    what: stated.rule.if?.source ?? '',
    ...(control && { control }),
  });
  const [before] = beside;
  if (row && before) await claimUnchanged(session, row, { before, attempt: done, fact });
  else if (!row) await claimNothingLeft(session, { resource, request, done, marks, fact, ...(control && { control }) });
}

/** Asks for what is just beyond the edge of its condition: whatever comes of that, it is not this error. */
async function spare(session: Session, { stated, endpoint, resource, fact }: Own, { slots, unmet }: Imagined): Promise<void> {
  const { model } = session;
  const { name } = stated.code;
  if (!unmet || !isOwnAlone(model, name)) return;
  const { request, beside } = await stage(session, endpoint, slots, { scene: unmet, resource });
  const done = await session.send(request);
  session.claim({
    fact,
    reason: `not else at ${endpoint.key}`,
    at: stated.rule.at,
    of: [done, ...beside],
    judge(exchange: TrialExchange, ...seen: readonly TrialExchange[]): Judgement {
      if (ownErrorOf(model, stated, exchange, seen, true) !== 'no') return moot('its condition holds, or may hold');
      return model.refusals.codeIn(exchange) === name
        ? { promised: `${name} only where ${stated.rule.if?.source}`, seen: `${exchange.status}${briefly(exchange)}` }
        : undefined;
    },
  });
}

/** Whether a code has no other use than one condition of its own: another rule may have meant it. */
function isOwnAlone(model: Model, name: string): boolean {
  const rules = model.refusals.all().filter(({ code }) => code.name === name);
  const isElse = JSON.stringify([model.spec.states, model.spec.authentication.permissions]).includes(`"${name}"`);
  return rules.length === 1 && !isElse;
}

const changing: ReadonlySet<string> = new Set(['create', 'upsert', 'update', 'replace', 'transition']);

/** A body of which one member is wrong changes nothing, whatever else is in it. */
export const unchangedByRefused: Trial = {
  name: 'errors/unchanged',
  part: 'errors',
  about: 'What is refused as invalid leaves no row behind, and a row that is there as it was.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const code = model.refusals.of('request.invalid.value', model.operationOf(endpoint))?.code.name;
      if (!effect || !('resource' in effect) || !changing.has(effect.verb) || code === undefined || !bodyMedia(endpoint))
        continue;
      if (!isStated(requestShape(model.spec, endpoint))) continue;
      const isNew = effect.verb === 'create' || effect.verb === 'upsert';
      if (isNew && model.endpointsThat('list', effect.resource).length === 0) continue;
      const fact: FactName = { kind: 'conditions', subject: code };
      const { resource } = effect;
      yield {
        name: endpoint.key,
        facts: [fact],
        run: (session) => (isNew ? create(session, endpoint, resource, fact) : change(session, endpoint, fact)),
      };
    }
  },
};

async function create(session: Session, endpoint: Endpoint, resource: string, fact: FactName): Promise<void> {
  const scene = { values: new Map(), state: undefined };
  const { request, marks } = await stage(session, endpoint, [], { scene, resource });
  const wrong = wrongMember(session, endpoint, request.caller, marks);
  const { body } = request;
  session.need(wrong !== undefined && body !== undefined && 'value' in body, 'no member of its body can be wrong by itself');
  const plan = { ...request, body: { ...body, value: withMember(body.value, [wrong.name], wrong.value) } };
  const done = await session.send(plan);
  await claimNothingLeft(session, { resource, request: plan, done, marks, fact });
}

async function change(session: Session, endpoint: Endpoint, fact: FactName): Promise<void> {
  const begun = await beginBody(session, endpoint, 'full');
  const { row, caller } = begun;
  const wrong = wrongMember(session, endpoint, caller, []);
  session.need(row !== undefined && wrong !== undefined, 'no member of its body can be wrong by itself');
  const before = (await lookAt(session, row)).done;
  const plan: RequestPlan = begun.request(wrongLast(begun.json, wrong));
  const attempt = await session.send(plan);
  await claimUnchanged(session, row, { before, attempt, fact });
}

interface WrongMember {
  readonly name: string;
  readonly value: Json;
}

/** What is right comes first, so that whoever takes one member after the other has taken it already. */
function wrongLast(json: Symbolic, { name, value }: WrongMember): Symbolic {
  const { [name]: _right, ...rest } = json as Readonly<Record<string, Symbolic>>;
  return withMember(rest, [name], value);
}

/** A member with a value that its shape does not admit, by its bounds rather than its type where it can be. */
function wrongMember(
  session: Session,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
  marks: readonly string[],
): WrongMember | undefined {
  const found = membersSent(session.model, endpoint, caller).flatMap(({ path, shape, isImmutable }) => {
    const [name] = path;
    if (name === undefined || path.length > 1 || isImmutable || marks.includes(name)) return [];
    return bodyBreaks(session.model, endpoint, shape).map(({ value, kind }) => ({ name, value, kind }));
  });
  return found.find(({ kind }) => kind === 'allowed values') ?? found[0];
}
