import type { ScriptRun } from './run.ts';
import type { Step } from './step.ts';

/** What a step gives in a run. Requests see themselves how long they are waited for. @throws {Spent} where there is no time left */
export function carriedOut<T>(step: Step<T>, run: ScriptRun): Promise<T> {
  if (step.isRequest) return step.act(run);
  const act = run.client.within(step.act(run), run.errand);
  return step.isWait && run.pausing ? run.pausing(act) : act;
}
