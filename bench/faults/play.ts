/** Plays demonstrations. */
import type { RunningService } from './command.ts';
import type { Demonstration, Seen } from './demonstration.ts';
import { Stage } from './stage.ts';

/** Plays a demonstration at a running service. `credentials` makes the header of somebody. */
export async function play(
  { acts, right }: Demonstration,
  service: RunningService,
  credentials: (who: string) => Readonly<Record<string, string>>,
): Promise<{ readonly isRight: boolean; readonly seen: Seen }> {
  const stage = new Stage(service, credentials);
  try {
    for (const act of acts) await stage.carryOut(act);
    return { isRight: right(stage.seen()), seen: stage.seen() };
  } finally {
    stage.close();
  }
}
