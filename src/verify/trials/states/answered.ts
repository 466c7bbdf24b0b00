import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { allMachines, type Machine, type Target } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { Captured, resolve, type Symbolic } from '../../exchange/symbol.ts';
import { beginnings, initialTarget } from '../../make/beginning.ts';
import { callerFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { referredTo } from '../../make/own-rules.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** What the reasons of claims begin with that a creation which is kept is answered with its error. */
const answeredWith = 'answered with';

/** What is made in a state that answers with an error is there, and whoever made it is answered so. */
export const answeredCreations: Trial = {
  name: 'states/answered',
  part: 'states',
  about: 'A creation that begins where an error is answered is answered with it, and kept.',
  noise: 'quiet',
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      const creations = ['create', 'upsert'].flatMap((verb) => model.endpointsThat(verb, machine.resource));
      for (const target of machine.initial) {
        for (const endpoint of target.answer === undefined ? [] : creations) {
          yield {
            name: `${endpoint.key}, ${target.answer}`,
            facts: [{ kind: 'states', subject: machine.key }],
            run: (session) => beginAnswered(session, { machine, target, endpoint }),
          };
        }
      }
    }
  },
};

interface Answering {
  readonly machine: Machine;
  readonly target: Target;
  readonly endpoint: Endpoint;
}

async function beginAnswered(session: Session, answering: Answering): Promise<void> {
  const { model } = session;
  const { machine, target, endpoint } = answering;
  const caller = callerFor(session, endpoint);
  const { path, json } = await session.parts(endpoint, { style: 'plain', caller });
  const request = (body: Symbolic): RequestPlan => model.request(endpoint, { path, caller, json: body });
  const found = bodiesFor(session, answering, json ?? {}, caller);
  session.need(
    found.answered !== undefined,
    `nothing was found with which a ${machine.resource} begins where ${target.answer} is answered`,
  );
  const done = await session.send(request(found.answered));
  const sent = resolve(found.answered, session.run);
  const beside = referredTo(session, machine.resource, [isMap(sent) ? sent : undefined]);
  const of: readonly [Done<TrialExchange>, ...Done<TrialExchange>[]] = [done, ...beside];
  const control = found.open === undefined ? undefined : request(found.open);
  session.claim({
    fact: { kind: 'states', subject: machine.key },
    reason: `${answeredWith} ${target.answer}`,
    at: target.at,
    of,
    control,
    judge: (exchange: TrialExchange, ...seen: readonly TrialExchange[]) => judgeAnswered(model, machine, exchange, seen),
  });
  await claimThere(session, answering, { done, beside, caller, control });
}

function judgeAnswered(model: Model, machine: Machine, exchange: TrialExchange, seen: readonly TrialExchange[]): Judgement {
  const answer = initialTarget(model, machine, exchange, seen)?.answer;
  if (answer === undefined) return moot('it begins where nothing is answered, or nobody can say where');
  if (model.refusals.isHurried(exchange) || model.refusals.isOpen(exchange)) return moot('it could not be done now');
  const promised = `what begins so is answered with ${answer}`;
  if (isDone(exchange)) return { promised, seen: asText(exchange.status) };
  const code = model.refusals.codeIn(exchange);
  if (code === answer) return undefined;
  const isOfOther = machine.initial.some((one) => one.answer !== undefined && one.answer === code);
  if (isOfOther) return { promised, seen: `${exchange.status} ${code}` };
  const status = model.refusals.named(answer, undefined)?.status;
  return code === undefined && exchange.status === status ? undefined : moot('something else stood in its way');
}

/** Where the error tells which row was made: that is there, in the state in which it begins. */
async function claimThere(
  session: Session,
  { machine, target, endpoint }: Answering,
  {
    done,
    beside,
    caller,
    control,
  }: {
    readonly done: Done<TrialExchange>;
    readonly beside: readonly Done<TrialExchange>[];
    readonly caller: TrialCaller | undefined;
    readonly control: RequestPlan | undefined;
  },
): Promise<void> {
  const { model } = session;
  const way = model.refusals.resultAt(target.answer ?? '', endpoint.operation);
  const field = model.identifierField(machine.resource);
  if (!way || !model.refusals.showsCodes) return;
  const isMeant = (exchange: TrialExchange, seen: readonly TrialExchange[]) =>
    initialTarget(model, machine, exchange, seen)?.answer === target.answer && model.refusals.codeIn(exchange) === target.answer;
  const fact = { kind: 'states', subject: machine.key };
  session.claim({
    fact,
    reason: `${target.answer} tells what was made`,
    at: target.at,
    of: [done, ...beside],
    control,
    judge(exchange: TrialExchange, ...seen: readonly TrialExchange[]) {
      if (!isMeant(exchange, seen)) return moot('it was answered otherwise');
      const told = along(exchange.body, [...way, field]);
      const promised = `/${[...way, field].join('/')}: which ${machine.resource} was made`;
      return told === undefined || told === null ? { promised, seen: JSON.stringify(exchange.body) } : undefined;
    },
  });
  const [read] = model.endpointsThat('read', machine.resource).filter(({ path }) => path.split('{').length === 2);
  if (!read || typeof along(done.value.body, [...way, field]) !== 'string') return;
  const [parameter = ''] = /(?<=\{)[^{}]+/.exec(read.path) ?? [];
  const id = new Captured(done.step, { in: 'body', pointer: [...way, field] });
  const look = await session.send(model.request(read, { path: { [parameter]: id }, caller }));
  session.claim({
    fact,
    reason: `${target.answer}, and kept`,
    at: target.at,
    of: [done, look, ...beside],
    control,
    judge(exchange: TrialExchange, shown: TrialExchange, ...seen: readonly TrialExchange[]) {
      if (!isMeant(exchange, seen)) return moot('it was answered otherwise');
      const promised = `a ${machine.resource} that is ${target.state}`;
      if (shown.status === 404 || shown.status === 410) return { promised, seen: asText(shown.status) };
      const state = isDone(shown) ? rowIn(shown)?.[machine.field] : undefined;
      if (state === undefined) return moot('it was not shown');
      return state === target.state ? undefined : { promised, seen: asText(state) };
    },
  });
}

function along(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, name) => (isMap(at) ? at[name] : undefined), value);
}

/** A body that begins where the error is answered, and one that begins where none is, as like it as there is. */
function bodiesFor(
  session: Session,
  { machine, target, endpoint }: Answering,
  base: Symbolic,
  caller: TrialCaller | undefined,
): { readonly answered?: Symbolic; readonly open?: Symbolic } {
  const bodies = [...beginnings(session, { machine, endpoint, caller, base })];
  const answered = bodies.find(({ begins }) => begins === target);
  const differs = (picks: readonly number[]) => picks.filter((pick, index) => pick !== answered?.picks[index]).length;
  const open = bodies
    .filter(({ begins }) => begins !== undefined && begins.answer === undefined)
    .sort((one, other) => differs(one.picks) - differs(other.picks))[0];
  return { ...(answered && { answered: answered.json }), ...(open && { open: open.json }) };
}

/** What is created begins in an initial state, and its state is not for callers to write. */
export const initial: Trial = {
  name: 'states/initial',
  part: 'states',
  about: 'What is created begins in an initial state, whatever state was sent.',
  noise: 'quiet',
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      if (machine.initial.length === 0) continue;
      for (const style of ['plain', 'full'] as const) {
        yield {
          name: `${machine.key}, ${style}`,
          facts: [{ kind: 'states', subject: machine.key }],
          run: (session) => begin(session, model, machine, style),
        };
      }
    }
  },
};

async function begin(session: Session, model: Model, machine: Machine, style: 'plain' | 'full'): Promise<void> {
  const { resource } = machine;
  const row = await session.make(resource, { style });
  const { made } = row;
  session.need(made !== undefined, `rows of ${resource} are given, not made`);
  const after = await lookAt(session, row);
  const states = machine.initial.map(({ state }) => state);
  session.claim({
    fact: { kind: 'states', subject: machine.key },
    reason: 'initial',
    at: `${machine.at}/initial`,
    of: [made, after.done] as const,
    judge(exchange: TrialExchange, seen: TrialExchange) {
      const shown = isDone(exchange) ? rowWith(model, seen, idIn(model, exchange)) : undefined;
      const state = shown?.[machine.field];
      if (state === undefined) return moot('the state is not shown');
      if (states.includes(asText(state))) return undefined;
      if (movedByClock(model, machine, exchange, seen)) return moot('the clock may have moved it meanwhile');
      return { promised: `a ${resource} begins as ${states.join(' or ')}`, seen: asText(state) };
    },
  });
}
