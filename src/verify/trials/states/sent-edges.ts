import { isMap } from '../../../document/values.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Machine, Transition } from '../../../parts/states.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { resolve } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { referredTo } from '../../make/own-rules.ts';
import { requestAbout } from '../../make/request-about.ts';
import { factsOfMachine, fireable } from '../../make/transitions.ts';
import type { Model } from '../../model/model.ts';
import { rowPlace } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { outcomeFor } from './outcome.ts';

/** A condition that holds what is sent against what the row has, `request.until > resource.due`, is met at its edge: the very value that is there. */
export const sentEdges: Trial = {
  name: 'states/sent edges',
  part: 'states',
  about: 'A transition whose condition holds what is sent against the row is told by the value that the row has.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      for (const compared of comparedIn(model, machine, transition)) {
        yield {
          name: `${transition.name} ${machine.resource}, ${compared.sent} as ${compared.own}`,
          facts: factsOfMachine(machine),
          run: (session) => sendTheSame(session, machine, transition, compared),
        };
      }
    }
  },
};

interface Compared {
  /** The member of the body, and that of the row. */
  readonly sent: string;
  readonly own: string;
}

/** What of a request a condition compares with what of the row, by more or less. */
export function comparedIn(model: Model, { resource }: Machine, { name, if: condition, from }: Transition): readonly Compared[] {
  if (!condition || from === '*' || !model.endpointOfTransition(resource, name)) return [];
  const found = [...condition.source.matchAll(/\b(request|resource)\.(\w+)\s*[<>]=?\s*(request|resource)\.(\w+)(?![\w.(])/g)];
  return found.flatMap(([, left, one = '', right, other = '']): Compared[] => {
    if (left === right) return [];
    return [left === 'request' ? { sent: one, own: other } : { sent: other, own: one }];
  });
}

/** The reason of the claims about what is sent as the row has it. */
export function sentAsThere({ name }: Transition, { sent, own }: Compared): string {
  return `${name}, ${sent} as ${own}`;
}

async function sendTheSame(session: Session, machine: Machine, transition: Transition, compared: Compared): Promise<void> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  const [state] = transition.from === '*' ? [] : transition.from;
  session.need(endpoint !== undefined && state !== undefined, 'no caller can fire it');
  const row = await session.make(machine.resource, { machine, state });
  const before = (await lookAt(session, row)).done;
  const shown = row.fields?.[compared.own];
  const reader = before.value.endpoint;
  const place =
    reader && statedValue(reader.does)?.verb === 'read'
      ? (rowPlace(reader, machine.resource, before.value.status) ?? [])
      : undefined;
  session.need(
    shown !== undefined && shown !== null && place !== undefined,
    `the ${compared.own} of a ${machine.resource} is not shown`,
  );
  const value = session.captured(before, ...place, compared.own);
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const drawn = await requestAbout(session, row, endpoint, { caller, headers, transition });
  const body = drawn.body && 'value' in drawn.body ? resolve(drawn.body.value, session.run) : {};
  session.need(isMap(body) && (endpoint.takes?.path ?? []).length === 0, 'its body is no map of its own');
  const done = await session.send(
    await requestAbout(session, row, endpoint, { caller, headers, json: { ...body, [compared.sent]: value } }),
  );
  const beside = referredTo(session, machine.resource, [row.fields]);
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: sentAsThere(transition, compared),
    at: transition.if?.at ?? transition.at,
    of: [done, before, ...beside] as const,
    control: drawn,
    judge(exchange: TrialExchange, was: TrialExchange, ...others: readonly TrialExchange[]): Judgement {
      const outcome = outcomeFor(session.model, { machine, transition }, { exchange, was, beside: others });
      if (outcome === undefined || outcome === 'unknown') return moot('it is not known whether its condition holds');
      if (outcome !== 'blocked') return isDone(exchange) ? undefined : moot('something else stood in its way');
      if (!isDone(exchange)) return undefined;
      return {
        promised: `${transition.name} is refused where ${transition.if?.source} does not hold`,
        seen: `${exchange.status}${briefly(exchange)}`,
      };
    },
  });
}
