import type { NearMiss } from '../../../kinds/schemes/kind.ts';
import { beginsAfter, endedBy, readToken, tokenMisfit } from '../../../kinds/schemes/token.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { canShow, credentialParts, type TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { arrange } from '../../make/begin-body.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import {
  acceptable,
  anyAccepted,
  asNobody,
  type Door,
  doorsForAnyone,
  guardedDoors,
  inventedFor,
  knockableSchemes,
  knocking,
  letsAnyone,
  publicDoors,
  showing,
} from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import { mayBeRefusedBefore, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { openEar, streamOf } from '../events/stream-ears.ts';
import { elsewhere, inAnotherCase, isTokenScheme, isUnknown, isUnknownCaller, tamperedWith, unknownFlaw } from './carriers.ts';
import { challenged, challengeJudge } from './challenges.ts';
import { openAt, publicAt, schemesFact } from './unneeded.ts';

/** Who is nobody, or shows what is not good, is unknown at every operation that is not public. */
export const who: Trial = {
  name: 'authentication/who is calling',
  part: 'authentication',
  about:
    'Without a credential, and with one that is not good, whatever is not public is refused as `caller.unknown`, before all else.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const door of guardedDoors(model)) yield nobodyAt(model, door);
    for (const door of publicDoors(model)) yield publicAt(model, door);
    for (const door of doorsForAnyone(model).filter(({ endpoint }) => isByRule(endpoint))) yield openAt(model, door);
    for (const stranger of model.strangers) {
      const door = quietDoor(model, 0);
      if (door) yield strangerAt(model, door, stranger);
    }
    const stream = streamOf(model)?.operation;
    if (stream && knockableSchemes(model).length > 0 && !model.access.isPublic(stream) && !letsAnyone(model, stream))
      yield nobodyListens(model, stream);
    for (const [at, scheme] of knockableSchemes(model).entries()) {
      const good = model.callers.find(({ credential }) => credential?.scheme.name === scheme.name);
      const door = quietDoor(model, at, good);
      if (door) yield badOnes(model, door, scheme.name, good);
    }
  },
};

function nobodyAt(model: Model, { operation, endpoint }: Door): Case {
  if (!isByRule(endpoint)) return strangersAt(model, endpoint);
  const rules = { kind: 'permission rules', subject: operation.name };
  return {
    name: `${endpoint.key} without a credential, and with one that nobody gave out`,
    facts: [rules, schemesFact],
    async run(session: Session) {
      const valid = await acceptable(session, { operation, endpoint });
      const control = valid && anyAccepted(session, { operation, endpoint }, valid);
      const judge = (seen: TrialExchange) => unknownFlaw(model, operation, seen, 'without a credential');
      const judgeKnock = (seen: TrialExchange) =>
        (mayBeRefusedBefore(model, 'caller', seen) ? unlessUnknown(model, operation, seen) : undefined) ?? judge(seen);
      const knock = knocking(model, endpoint, undefined);
      const judgeChallenge = challengeJudge(model, endpoint);
      for (const plan of [knock, ...(valid ? [asNobody(valid)] : [])]) {
        const done = await session.send(plan);
        session.claim({ fact: rules, reason: 'nobody', of: [done], control, judge: plan === knock ? judgeKnock : judge });
        if (plan !== knock)
          claimRefusedAs(session, done, { by: { when: 'caller.unknown.missing' }, what: 'a request of nobody', control });
        if (judgeChallenge) session.claim({ fact: schemesFact, reason: challenged, of: [done], control, judge: judgeChallenge });
      }
      for (const scheme of knockableSchemes(model)) {
        const invented = inventedFor(scheme);
        if (invented?.in !== 'header') continue;
        const strange = await session.send(knocking(model, endpoint, showing(invented, invented.value)));
        const judgeStrange = (seen: TrialExchange) =>
          (mayBeRefusedBefore(model, 'caller', seen) ? unlessUnknown(model, operation, seen) : undefined) ??
          unknownFlaw(model, operation, seen, 'with a credential that nobody gave out');
        session.claim({ fact: rules, reason: 'invented', of: [strange], judge: judgeStrange });
      }
    },
  };
}

/** Where something else may be asked first, another refusal says nothing of the caller. */
function unlessUnknown(model: Model, operation: Operation, seen: TrialExchange): Judgement {
  return isUnknownCaller(model, operation, seen) ? undefined : moot('something else may have been asked first');
}

/** Where no order of refusals is stated, all is right in the request but the credential; then it is refused, whatever as. */
function strangersAt(model: Model, endpoint: Endpoint): Case {
  const judge = (seen: TrialExchange): Judgement =>
    seen.status < 400 ? { promised: `${endpoint.key} asks for a credential`, seen: `it was answered ${seen.status}` } : undefined;
  return {
    name: `${endpoint.key} without a credential, and with one that nobody gave out`,
    facts: [schemesFact],
    async run(session: Session) {
      const { caller: _known, ...request } = await arrange(session, endpoint);
      const done = await session.send(request);
      session.claim({ fact: schemesFact, reason: `nobody at ${endpoint.key}`, of: [done], judge });
      for (const scheme of knockableSchemes(model)) {
        const invented = inventedFor(scheme);
        if (!invented) continue;
        const strange = await session.send({ ...request, caller: showing(invented, invented.value) });
        session.claim({ fact: schemesFact, reason: `a stranger at ${endpoint.key}`, of: [strange], judge });
      }
    },
  };
}

/** The stream is refused to nobody in particular, and to users whom no rule allows it. */
function nobodyListens(model: Model, operation: Operation): Case {
  const rules = { kind: 'permission rules', subject: operation.name };
  return {
    name: `${operation.name} without a credential`,
    facts: [rules],
    async run(session: Session) {
      const able = model.callers.find((caller) => model.access.allows(operation, caller) !== 'no');
      if (able) await (await openEar(session, able)).end(session);
      const ear = await openEar(session, undefined);
      const judge = (seen: TrialExchange): Judgement =>
        seen.trouble ? moot(seen.trouble.message) : unknownFlaw(model, operation, seen, 'without a credential');
      session.claim({ fact: rules, reason: 'nobody', of: [ear.opened], judge });
      await session.do(ear.hearing([], { isEnough: () => true, ms: 0, quietMs: 0 }));
    },
  };
}

/** Every credential that can be made bad from outside, at one operation that changes nothing; and the good one, which is known. */
function badOnes(model: Model, { operation, endpoint }: Door, scheme: string, good: TrialCaller | undefined): Case {
  const carrier = { kind: 'header names', subject: scheme };
  const formats = breaksFormat(good) ? [factOfTampering(model, scheme, 'token formats')] : [];
  return {
    name: `${scheme}: credentials that are not good`,
    facts: [schemesFact, carrier, ...formats],
    async run(session: Session) {
      session.need(good?.credential !== undefined, `no credential of the scheme ${scheme} was given`);
      const { credential } = good;
      const request = (await acceptable(session, { operation, endpoint }, good)) ?? knocking(model, endpoint, good);
      const known = await session.send(request);
      const refusal = refusalFor(model, 'caller.unknown', operation);
      // Where no refusal is stated, HTTP's own says it: what it was asked about need not be there.
      const isKnown = (seen: TrialExchange) => (refusal ? !isUnknown(model, refusal, seen) : seen.status !== 401);
      session.claim({
        fact: carrier,
        reason: 'known',
        of: [known],
        judge: (seen: TrialExchange): Judgement =>
          isKnown(seen)
            ? undefined
            : {
                promised: `a credential in ${credential.carrier} shows who is calling`,
                seen: `the one that was given was answered ${seen.status}`,
              },
      });
      session.need(isKnown(known.value), `the credential of the scheme ${scheme} that was given is not good`);
      await elsewhere(session, { operation, endpoint }, request, credential);
      await inAnotherCase(session, { operation, endpoint }, request, credential);
      const { prefix, text } = credentialParts(credential);
      const tellsSorts = model.refusals.among('caller.unknown', operation).length > 1;
      for (const { how, text: bad, breaks } of tamperedWith(credential.scheme, text)) {
        const done = await session.send({ ...request, caller: showing(credential, `${prefix}${bad}`) });
        const judge = (before: TrialExchange, seen: TrialExchange): Judgement =>
          isKnown(before)
            ? unknownFlaw(model, operation, seen, `with the given credential, but ${how}`)
            : moot('the good one is not');
        const fact = factOfTampering(model, scheme, breaks);
        session.claim({ fact, reason: `${scheme}: ${how}`, of: [known, done], judge });
        if (tellsSorts) claimRefusedAs(session, done, { by: { when: 'caller.unknown.bad' }, what: `a credential ${how}` });
      }
    },
  };
}

/** Where strangers are tried: an operation that changes nothing, another one for each scheme where there are several. */
function quietDoor(model: Model, at: number, caller?: TrialCaller): Door | undefined {
  const isFor = ({ operation, endpoint }: Door, one: TrialCaller) =>
    model.access.allows(operation, one) !== 'no' && canShow(one, endpoint);
  const all = guardedDoors(model).filter((door) => !caller || isFor(door, caller));
  const reading = all.filter(({ endpoint }) => endpoint.method === 'GET' || statedValue(endpoint.does)?.verb === 'read');
  const among = reading.length > 0 ? reading : all;
  return among[at % Math.max(1, among.length)];
}

/** A credential that was good once, or is good elsewhere. */
function strangerAt(model: Model, { operation, endpoint }: Door, stranger: TrialCaller): Case {
  const fact = factOfStranger(model, stranger);
  return {
    name: `a credential that is ${stranger.bad}: ${stranger.name}`,
    facts: [fact],
    async run(session: Session) {
      const valid = await acceptable(session, { operation, endpoint });
      const control = valid && anyAccepted(session, { operation, endpoint }, valid);
      const done = await session.send({ ...(valid ?? knocking(model, endpoint, stranger)), caller: { ...stranger, user: '' } });
      const judge = (seen: TrialExchange) => unknownFlaw(model, operation, seen, `with a credential that is ${stranger.bad}`);
      session.claim({ fact, reason: `${stranger.bad}`, of: [done], control, judge });
      const when = stranger.bad === 'expired' ? 'caller.unknown.expired' : 'caller.unknown.bad';
      if (model.refusals.among('caller.unknown', operation).length > 1)
        claimRefusedAs(session, done, { by: { when }, what: `a credential that is ${stranger.bad}`, control });
    },
  };
}

/** What a token says of itself, and the scheme does not take, is a matter of its format; whatever else is bad about it of the scheme. */
function factOfStranger(model: Model, { credential }: TrialCaller): FactName {
  const token = credential && isTokenScheme(credential.scheme) ? readToken(credentialParts(credential).text) : undefined;
  const isSelfEvident =
    token !== undefined &&
    (endedBy(token, Date.now()) || beginsAfter(token, Date.now()) || tokenMisfit(credential?.scheme, token) !== undefined);
  return isSelfEvident ? factOfTampering(model, credential?.scheme.name ?? '', 'token formats') : schemesFact;
}

/** The fact that a bad credential would break; where its format is no promise, that of the schemes. */
function factOfTampering(model: Model, scheme: string, kind: NearMiss['breaks']): FactName {
  const format = { kind: 'token formats', subject: scheme };
  return kind === 'token formats' && model.facts.isPromised(format) ? format : schemesFact;
}

/** Whether a credential can be made into one of a form that its scheme does not have. */
function breaksFormat(good: TrialCaller | undefined): boolean {
  const { credential } = good ?? {};
  return (
    credential !== undefined &&
    tamperedWith(credential.scheme, credentialParts(credential).text).some(({ breaks }) => breaks === 'token formats')
  );
}
