import { isMap, isSame } from '../../../document/values.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { canShow, type TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { doneJudgement } from '../../make/done-judgement.ts';
import { acceptable, type Door, guardedDoors, knocking } from '../../make/knocking.ts';
import { ready } from '../../make/readied.ts';
import { type OpenDoor, openDoors } from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { isUnknownCaller } from '../authentication/carriers.ts';

const fact = { kind: 'users', subject: 'service' };

/** How many operations a user tries. */
const triesMost = 6;

/** Every user can do something. */
export const purposeUsers: Trial = {
  name: 'purpose/users',
  part: 'purpose',
  about: 'Each stated user is known and can call at least one operation, by each scheme of which a credential was given.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [user] of entriesOf(model.spec.purpose.users)) {
      yield caseOf(model, user);
      for (const scheme of otherSchemes(model, user)) yield caseOf(model, user, scheme);
    }
  },
};

/** The schemes of which a user was given credentials, beside that of the first. */
export function otherSchemes(model: Model, user: string): readonly string[] {
  const given = model.callers.flatMap((one) => (one.user === user && one.credential ? [one.credential.scheme.name] : []));
  return [...new Set(given)].slice(1);
}

/** What a user by a scheme is called. */
export function userBy(user: string, scheme: string | undefined): string {
  return scheme === undefined ? user : `${user} by ${scheme}`;
}

function caseOf(model: Model, user: string, scheme?: string): Case {
  return {
    name: userBy(user, scheme),
    facts: [fact],
    async run(session: Session) {
      const callers = model.callers.filter(
        (one) => one.user === user && (scheme === undefined || one.credential?.scheme.name === scheme),
      );
      const doorsOf = (one: TrialCaller) =>
        guardedDoors(model).filter((door) => isOpenTo(session, door, one) && (scheme === undefined || isTaken(door, one)));
      const caller = callers.find((one) => doorsOf(one).length > 0) ?? callers[0];
      session.need(caller !== undefined, `no credential of a ${user} was given`);
      const doors = doorsOf(caller).sort((one, other) => effortOf(model, one, caller) - effortOf(model, other, caller));
      session.need(doors.length > 0, `no operation is allowed to a ${userBy(user, scheme)}`);
      const tried: Done<TrialExchange>[] = [];
      const asked: Door[] = doors.slice(0, triesMost);
      for (const door of asked) {
        const isPlain = door.endpoint.method === 'GET' && pathParameters(door.endpoint.path).length === 0;
        const request = isPlain ? undefined : await acceptable(session, door, caller);
        const done = await session.send(request ?? knocking(model, door.endpoint, caller));
        tried.push(done);
        if (isDone(done.value)) break;
      }
      session.claim({
        fact,
        reason: userBy(user, scheme),
        of: tried.filter(({ value }) => isDone(value) || !tried.some((one) => isDone(one.value))),
        judge: (...all: readonly TrialExchange[]): Judgement => {
          if (all.some(isDone)) return undefined;
          const outcomes = new Set(all.map((seen) => outcomeOf(model, seen, caller)));
          if (!outcomes.has('left out') || outcomes.has('something else'))
            return moot('what it asked for was refused for something else');
          return {
            promised: `a ${userBy(user, scheme)} can call ${asked.map(({ operation }) => operation.name).join(', ')}`,
            seen: 'it is not known at any of them',
          };
        },
      });
    },
  };
}

/** What is allowed whatever the row comes first, then what changes nothing, and what needs no row. */
function effortOf(model: Model, { operation, endpoint }: Door, caller: TrialCaller): number {
  const isSure = model.access.allows(operation, caller) === 'yes';
  return (isSure ? 0 : 100) + (endpoint.method === 'GET' ? 0 : 10) + pathParameters(endpoint.path).length;
}

/** Whether a caller may be let in, and is asked for no more than may be sent. */
function isOpenTo({ model, run }: Session, { operation, endpoint }: Door, caller: TrialCaller): boolean {
  const mayBe = model.access.allows(operation, caller) !== 'no' && canShow(caller, endpoint);
  return mayBe && (endpoint.method === 'GET' || !run.isReadOnly);
}

/** Whether a door looks at the scheme of somebody's own credential. */
function isTaken({ endpoint }: Door, { credential, accepts = [] }: TrialCaller): boolean {
  return (endpoint.accept ?? accepts).some((set) => set.includes(credential?.scheme.name ?? ''));
}

/** What an answer says of who asked: not known, or known and not let in; or something about what was asked. */
function outcomeOf(model: Model, seen: TrialExchange, caller: TrialCaller): 'left out' | 'row' | 'something else' {
  const operation = seen.endpoint && model.operationOf(seen.endpoint);
  if (!operation || !isRefused(model, seen)) return 'something else';
  if (isUnknownCaller(model, operation, seen)) return 'left out';
  const forbidden = refusalFor(model, 'caller.forbidden', operation);
  if (!forbidden || !isRefusal(model, seen, forbidden)) return 'something else';
  return model.access.allows(operation, caller) === 'yes' ? 'left out' : 'row';
}

const addressFact = { kind: 'base address', subject: 'service' };

/** The endpoints stand below the path of the base address, and nowhere else. */
export const baseAddress: Trial = {
  name: 'purpose/base address',
  part: 'purpose',
  about: 'Endpoints are served below the path of the base address, and not without it.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    const doors = openDoors(model, true, true);
    // One of each collection: each may be mounted by itself.
    const first = new Map(doors.map((door) => [door.endpoint.path.split('/')[1], door] as const).toReversed());
    const asked = [...first.values()].toReversed().slice(0, doorsMost);
    for (const door of asked.length > 0 ? asked : [undefined]) {
      yield {
        name:
          door === undefined || door === asked[0]
            ? 'with its path and without'
            : `with its path and without, ${door.endpoint.key}`,
        facts: [addressFact],
        run: (session) => askBelow(session, door),
      };
    }
  },
};

const doorsMost = 8;

async function askBelow(session: Session, door: OpenDoor | undefined): Promise<void> {
  const { model } = session;
  session.need(door !== undefined, 'no operation can be asked without a row');
  const { endpoint, caller } = door;
  const plan = model.request(endpoint, { caller });
  const below = await session.send(plan);
  session.claim({
    fact: addressFact,
    reason: 'below it',
    of: [below],
    judge: (seen: TrialExchange) => belowJudgement(model, door, seen),
  });
  if (model.basePath === '') return;
  const { endpoint: _endpoint, ...bare } = plan;
  const without = await session.send({ ...bare, prefix: model.prefix.slice(model.basePath.length) });
  session.claim({
    fact: addressFact,
    reason: 'nowhere else',
    of: [below, without],
    judge: (one: TrialExchange, other: TrialExchange): Judgement => {
      if (!isDone(one)) return moot('it is not answered below the base address');
      if (!isDone(other) || !isAlikeAnswer(one, other)) return undefined;
      return {
        promised: `endpoints stand below ${model.basePath}, and nothing without it`,
        seen: `${other.sent.target} gave the same answer`,
      };
    },
  });
}

/** Whether two answers say the same, or tell the same members of it: rows may have come between. */
function isAlikeAnswer(one: TrialExchange, other: TrialExchange): boolean {
  if (isMap(one.body) && isMap(other.body)) return isSame(Object.keys(one.body).toSorted(), Object.keys(other.body).toSorted());
  return isSame(one.body ?? one.text, other.body ?? other.text);
}

function belowJudgement(model: Model, { operation }: OpenDoor, seen: TrialExchange): Judgement {
  if (isDone(seen)) return undefined;
  const unknown = refusalFor(model, 'route.unknown', operation);
  const isUnknown = unknown ? isRefused(model, seen) && isRefusal(model, seen, unknown) : seen.status === 404;
  return isUnknown
    ? { promised: `${operation.name} is served at ${seen.sent.target}`, seen: `it was answered ${seen.status}` }
    : moot('it was refused');
}

const functionsFact = { kind: 'functions', subject: 'service' };

/** What users are said to be able to do can be done from its beginning to its end. */
export const functions: Trial = {
  name: 'purpose/functions',
  part: 'purpose',
  about: 'Each operation of each function succeeds at least once, with everything that it needs made before.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, operations] of entriesOf(model.spec.purpose.functions)) yield callOf(model, name, operations);
  },
};

function callOf(model: Model, name: string, named: readonly string[]): Case {
  const operations = model.operations.filter((operation) => operation.endpoint && namesOperation(named, operation));
  return {
    name,
    facts: [functionsFact],
    async run(session: Session) {
      const reasons: string[] = [];
      for (const operation of operations) {
        try {
          await carryOut(session, operation);
        } catch (error) {
          if (!(error instanceof Untestable)) throw error;
          reasons.push(`${operation.name}: ${error.message}`);
        }
      }
      session.need(reasons.length < operations.length || operations.length === 0, reasons.join('; '));
    },
  };
}

async function carryOut(session: Session, operation: Operation): Promise<void> {
  const { model } = session;
  const { endpoint } = operation;
  if (!endpoint) return;
  const { request, row } = await ready(session, endpoint);
  const done = await session.send(request);
  session.claim<readonly [TrialExchange, ...TrialExchange[]]>({
    fact: functionsFact,
    reason: `${operation.name} succeeds`,
    of: [done, ...(row?.made ? [row.made] : [])],
    judge: (seen, made) => doneJudgement(model, operation, seen, made),
  });
}
