import type { Target } from '../attack/target.ts';
import { type Kinds, kinds } from './kinds.ts';

/** What came of a kind of request that asks for too much. */
export interface Bounded {
  readonly kind: string;
  /** What was not as it should be: an answer that is no refusal, another caller that is not answered, a failure. */
  readonly wrong: string | undefined;
}

/** Sends each kind, and after it a good request of somebody else. */
export async function runBounds(target: Target, sent: Kinds = kinds): Promise<Bounded[]> {
  const all: Bounded[] = [];
  await target.health();
  for (const [kind, send] of Object.entries(sent)) {
    const before = new Map(target.statuses);
    let wrong: string | undefined;
    try {
      await send(target);
      const other = await target.send('GET', '/status');
      if (other.status !== 200) wrong = `another caller was answered ${other.status}`;
      const came = [...target.statuses].filter(([status, times]) => times > (before.get(status) ?? 0)).map(([status]) => status);
      const strange = came.filter((status) => status >= 500 && status !== 503 && status !== 501);
      if (strange.length > 0) wrong = `it was answered ${strange.join()}`;
      const { failures } = await target.health();
      if (failures.length > 0) wrong = `it failed: ${failures[0]}`;
    } catch (error) {
      wrong = `${error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error)}`;
    }
    all.push({ kind, wrong });
  }
  return all;
}
