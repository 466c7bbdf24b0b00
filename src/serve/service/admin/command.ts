import type { Json, JsonMap } from '../../../document/document.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Store, Timer } from '../../../store/store.ts';
import type { Credentials } from '../../callers/credentials.ts';
import type { Clock, Entropy } from '../../http/clock.ts';
import type { Engine } from '../../operations/engine.ts';
import type { Workbench } from '../../scenarios/workbench.ts';

/** What an administrator's command works on: a service that runs, or its data while none does. */
export interface Administered {
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Entropy;
  readonly credentials: Credentials;
  /** The document as it is now. */
  readonly spec: () => Spec;
  /** The service, where one runs. */
  readonly engine?: () => Engine;
  /** What the clock fires in it. */
  readonly timers?: TimersAtHand;
  /** What trials do to a service that runs; nothing where others rely on it. */
  readonly workbench?: Workbench | undefined;
  /** Told of each command that was carried out and changes something. */
  readonly onAdministered?: ((act: AdminAct) => void) | undefined;
}

/** What an administrator has done: never a secret, what was said of it and what came of it. */
export interface AdminAct {
  readonly at: string;
  readonly act: string;
  readonly about: JsonMap;
}

/** What a person may do with the timers of a service that runs. */
export interface TimersAtHand {
  /** Those that failed and have not fired since, at most 500. */
  failing(): readonly FailingTimer[];
  /** Fires one now, as the clock would when it is due. @throws {Refused} */
  fireDue(timer: Timer): Promise<void>;
  /** One was dropped by hand. */
  dropped(timer: Timer): void;
}

export interface FailingTimer {
  readonly timer: Timer;
  readonly times: number;
  readonly why: string;
}

/** Something that an administrator can have done, by name: `keys add`. What goes in and what comes out are plain values. */
export interface AdminCommand {
  readonly name: string;
  /** Whether it changes nothing. */
  readonly isReading?: true;
  /** What may be noted down of it; all but secrets unless said. */
  readonly notes?: readonly string[];
  run(input: JsonMap, over: Administered): Json | Promise<Json>;
}

/** A command cannot be carried out as it was given; the message says what to write instead. */
export class Unfit extends Error {}
