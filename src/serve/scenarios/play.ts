import { after, type PromiseOrValue } from '../exchange/after.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Broken, Reply } from '../http/call.ts';
import type { Engine } from '../operations/engine.ts';
import { problem } from '../operations/error-payloads.ts';
import { StatedAnswers } from './answer.ts';
import { BadScenario, type Scenario } from './scenario.ts';
import { chance, type Played, type Stage } from './stage.ts';

/** Plays what a trial asks for at a request: the reply that it is given, or nothing where the service goes on, a delay later. */
export type Play = (exchange: Exchange) => PromiseOrValue<Reply | undefined>;

/** Compiles the scenarios of a service into the step between who calls and what is asked. */
export function compilePlay(stage: Stage, engine: Engine): Play {
  const answers = new StatedAnswers(engine.compilation.spec);

  function act({ name, scenario }: Played, exchange: Exchange): Reply | undefined {
    const { answer, fault, force } = scenario;
    const unstated = answer && answers.unstated(answer, exchange.plan);
    if (unstated !== undefined && !force)
      return scenarioRefused(`${unstated}. Add force to have it all the same.`, name, exchange);
    exchange.scenario = { name: unstated === undefined ? name : `${name}; unstated`, broken: fault && brokenBy[fault] };
    if (fault === 'cut' || fault === 'silence') return { status: 200, headers: {}, body: undefined };
    if (!answer) return undefined;
    const made = answers.make(answer, exchange);
    return typeof made === 'string' ? scenarioRefused(`${made}.`, name, exchange) : made;
  }

  return (exchange) => {
    let played: Played | undefined;
    try {
      played = stage.find(exchange);
    } catch (failure) {
      if (!(failure instanceof BadScenario)) throw failure;
      return scenarioRefused(failure.message, 'not played', exchange);
    }
    if (!played) return undefined;
    const found = played;
    exchange.scenario = { name: found.name, broken: undefined };
    return after(waited(delayOf(found)), () => act(found, exchange));
  };
}

const brokenBy = { cut: 'cut', lose: 'cut', truncate: 'truncated', silence: 'silent' } as const satisfies Readonly<
  Record<NonNullable<Scenario['fault']>, Broken>
>;

/** A scenario that cannot be played is told as such: nothing else is done. */
function scenarioRefused(detail: string, name: string, exchange: Exchange): Reply {
  exchange.scenario = { name: `${name}; not played`, broken: undefined };
  return problem({ type: 'urn:ninefold:scenario', status: 400, detail, request_id: exchange.requestId() });
}

/** How long one is waited for, in milliseconds: drawn by its name and its number. */
function delayOf({ name, met, scenario: { delayMs } }: Played): number | undefined {
  if (!delayMs) return undefined;
  const { from, to } = delayMs;
  return from === to ? from : from + chance(`${name}\n${met}\ndelay`) * (to - from);
}

function waited(ms: number | undefined): PromiseOrValue<void> {
  if (ms === undefined) return undefined;
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
