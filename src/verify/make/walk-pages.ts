import type { Json } from '../../document/document.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { ScriptRun } from '../exchange/run.ts';
import type { Step } from '../exchange/step.ts';
import { resolve } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { itemsOf } from '../model/row-shown.ts';
import { sending } from '../session/request.ts';
import { nextPage } from './pages.ts';

const pagesMax = 60;

/** The step that goes through all pages of a list, however many there are in that run; after the first one, something else may be sent. */
export function walkingPages(model: Model, first: RequestPlan, between?: RequestPlan): Step<readonly TrialExchange[]> {
  const firstStep = sending(first);
  const other = between && sending(between);
  return {
    says: `${firstStep.says}, page after page${other ? `, with ${other.says} after the first` : ''}`,
    takes: [...firstStep.takes, ...(other?.takes ?? [])],
    async act(run) {
      const pages: TrialExchange[] = [];
      let plan: RequestPlan | undefined = first;
      while (plan && pages.length < pagesMax) {
        const page: TrialExchange = await sending(plan).act(run);
        pages.push(page);
        if (other && pages.length === 1) await other.act(run);
        const next: Readonly<Record<string, Json>> | undefined = isDone(page) ? nextQuery(model, page, run) : undefined;
        plan = next && { ...first, query: { ...first.query, ...next } };
      }
      return pages;
    },
    tell: (pages) => pages.map((page) => `${page.status}, ${itemsOf(model, page)?.length ?? 0} rows`).join('; '),
    shell: (names) => [
      ...firstStep.shell(names),
      ...(other ? other.shell(names) : []),
      '# and so on, page after page, each asked for as the one before says',
    ],
  };
}

/** The query of the next page with the values of this one in it. */
function nextQuery(model: Model, page: TrialExchange, run: ScriptRun): Readonly<Record<string, Json>> | undefined {
  const next = nextPage(model, { step: 0, value: page });
  // The cast holds: what is resolved from a map is a map.
  return next && (resolve(next, { ...run, results: [page] }) as Readonly<Record<string, Json>>);
}
