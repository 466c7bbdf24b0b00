import type { PartName } from '../../document/document.ts';
import type { FactName } from '../exchange/claim.ts';
import type { Model } from '../model/model.ts';
import type { Session } from './session.ts';

/**
 * One way of holding a service to some of its facts. A trial plans its cases from the document alone and sends nothing while it
 * plans; what it cannot plan it says with `untestable`.
 *
 * Whoever writes a trial keeps five rules, and the mechanism does the rest (clean starts, replays, shrinking, reports):
 *
 * 1. A claim is a pure function of the exchanges that it names: what was promised is computed again from the request as it was
 *    sent, so that a replay with other identifiers, or with a smaller request, is judged by itself. What must be true for the
 *    claim to mean anything (the request is valid, the row was there) is asked inside it, and answered with `moot` where it is not.
 * 2. It names the one fact that is broken, by the kind and subject of the ledger. A claim about a fact that is open, or left to the
 *    implementation, is dropped by the session; nobody has to ask.
 * 3. Values from earlier answers go into later requests as `captured`, values that have to be new as `fresh`: never as text.
 * 4. Data is made by `session.make`, and what cannot be made throws `Untestable`: the case's facts are then not testable, with that
 *    reason, unless another case shows them.
 * 5. In doubt it claims nothing. A false alarm costs more than a fault that is not found.
 */
export interface Trial {
  /** Its part and its subject: `resources/read back`; `--only` names it so. */
  readonly name: string;
  readonly part: PartName;
  /** One sentence for people. */
  readonly about: string;
  /** `quiet`: beside others; `alone`: it disturbs them or is disturbed, such as by rows that others make; `loud`: alone, after them; `last`: alone, when all else is over and proved, as the service is not what it was afterwards. */
  readonly noise: 'quiet' | 'alone' | 'loud' | 'last';
  /** Whether all that is loud about it is that it moves the clock: where nobody can, it waits beside others. */
  readonly movesClock?: boolean;
  /** Whether time may go by for the rows that it makes, though it is loud: what it looks at is no time. */
  readonly mayLetTimeGo?: true;
  /** Whether its cases wait for the machine itself, for many seconds, so that long windows of the service's clock go by meanwhile. */
  readonly outlastsTime?: true;
  /** Whether it has cases that only read, and so runs under `--read-only` too; what could change something is not sent then. */
  readonly isReading?: boolean;
  cases(model: Model): Iterable<Case>;
}

/** Whether it shares rows, and the time that goes by, with others. */
export function isBeside({ noise }: Pick<Trial, 'noise'>): boolean {
  return noise === 'quiet' || noise === 'alone';
}

/** One start from nothing, with everything that it needs. */
export interface Case {
  /** Told apart from the other cases of its trial by this: `POST /parcels without to`. Replays find it again by it. */
  readonly name: string;
  /** The facts that are not testable where it cannot be carried out. */
  readonly facts: readonly FactName[];
  run(session: Session): Promise<void>;
}
