import type { Json } from '../../document/document.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import { Samples } from '../../parts/samples/samples.ts';
import type { Engine } from '../operations/engine.ts';
import { emittable } from '../operations/handler-context.ts';
import { drawOnce } from '../resources/drawn.ts';
import { ownWork } from '../resources/own-work.ts';
import { BadScenario } from '../scenarios/scenario.ts';
import { Stage } from '../scenarios/stage.ts';
import type { RowsByResource, Workbench } from '../scenarios/workbench.ts';
import { Unfit } from './admin/command.ts';
import { seedRows } from './seed.ts';
import type { ServeOptions } from './service.ts';

/** What a workbench needs of the service that it stands beside. */
interface Bench extends Pick<Workbench, 'stage' | 'fire' | 'clock' | 'settled'> {
  readonly engine: () => Engine;
  /** The rows that the service started with. */
  readonly rows: RowsByResource | undefined;
  /** What is done once nothing is there any more: counts in memory begin anew, timers and deliveries are looked for. */
  readonly emptied: () => Promise<void>;
}

export function startWorkbench({ engine, rows: first, emptied, ...bench }: Bench): Workbench {
  return {
    ...bench,
    seed: async (rows) => {
      const made = await seedRows(engine(), rows);
      engine().timersChanged();
      return made;
    },
    async reset() {
      await bench.settled();
      await engine().store.change((rows) => rows.clear());
      bench.stage.rewind();
      await emptied();
      if (first) await seedRows(engine(), first);
      engine().timersChanged();
    },
    async emit(kind, data) {
      const now = engine();
      const emitted = emittable(now, kind, data === undefined ? payloadOf(now, kind) : data);
      const draw = drawOnce(now.chance, now.clock.now());
      const recorded = await now.store.change((rows) =>
        now.events.record(ownWork(rows, now.models, draw, `emit ${kind}`), undefined, [emitted]),
      );
      now.events.recorded(recorded);
      return { kind, data: emitted.data };
    },
  };
}

/** A made-up payload of a kind. */
function payloadOf({ compilation: { spec } }: Engine, kind: string): Json {
  const stated = entryOf(spec.events.kinds, kind);
  if (!stated || !isStated(stated.payload)) return {};
  const made = new Samples(spec)
    .of(stated.payload.value)
    .make({ seed: kind, identifierOf: () => undefined, sampled: () => {} }, '');
  // What samples make is JSON, or the mark that there is none.
  if (typeof made === 'symbol') throw new Unfit(`Nothing can be made up that fits what ${kind} carries; give its data.`);
  return made as Json;
}

/** A stage where trials may play: given scenarios, a stand-in, or `trials`, and never in production. */
export function stageOf({ scenarios, sample, trials, production, seedValue }: ServeOptions): Stage | undefined {
  if (production && (scenarios || trials)) throw new BadScenario('Scenarios are for trials: nothing is played in production.');
  const isWanted = scenarios !== undefined || sample === true || trials === true;
  return isWanted && !production ? new Stage(seedValue ?? '', scenarios) : undefined;
}
