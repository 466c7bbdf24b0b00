import { type Attack, attacks } from './attacks.ts';
import { rawRequests } from './raw.ts';
import type { Health, Target } from './target.ts';

/** What came of an attack. */
export interface Came {
  readonly attack: Attack;
  /** What was won; nothing where it failed. */
  readonly won: string | undefined;
  /** What went wrong with the right request. */
  readonly control: string | undefined;
}

/** Runs one attack, and its control after it. */
export async function runAttack(target: Target, attack: Attack): Promise<Came> {
  return { attack, won: await attack.attack(target), control: await attack.control(target) };
}

/** Runs all of them. */
export async function runAttacks(target: Target): Promise<Came[]> {
  const all: Came[] = [];
  for (const attack of attacks) all.push(await runAttack(target, attack));
  return all;
}

/** How many connections are attacked by at a time, and how long one waits for more of an answer that goes on. */
const atOnce = 64;
const quietMs = 1000;

/** Sends so many requests that are nearly right, and says how much memory the service took before, half-way and at the end. */
export async function runRaw(target: Target, most: number, seed: number): Promise<readonly Health[]> {
  const drawn = rawRequests(seed, target.keys.ann ?? '');
  const health: Health[] = [await target.health()];
  for (const share of [0.5, 1]) {
    let left = Math.round(most * share) - Math.round(most * (share - 0.5));
    const one = async () => {
      while (left > 0) {
        left -= 1;
        const { value } = drawn.next();
        await target.raw(value as Buffer, quietMs, true);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    health.push(await target.health());
  }
  return health;
}

/** The statuses that nobody may bring about from outside. */
export function strangeStatuses(statuses: ReadonlyMap<number, number>): number[] {
  return [...statuses.keys()].filter((status) => status >= 500 && status !== 503 && status !== 501);
}
