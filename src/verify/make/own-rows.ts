import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { Client } from '../exchange/client.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { WantedRow } from '../exchange/row.ts';
import type { Step } from '../exchange/step.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import { sending } from '../session/request.ts';
import type { Session } from '../session/session.ts';
import type { Made } from './made.ts';

type Creation = (resource: string, wanted: WantedRow) => Promise<RequestPlan>;

/**
 * The resources whose rows stand for callers: a row of it is what a reference to `caller.id` refers to, or whom `identity: caller.id`
 * reads, and whoever makes one says whose it is.
 */
function ownResources(model: Model): readonly string[] {
  const found = known.get(model) ?? findOwn(model);
  known.set(model, found);
  return found;
}

const known = new WeakMap<Model, readonly string[]>();

function findOwn(model: Model): readonly string[] {
  const referred = entriesOf(model.spec.resources.all).flatMap(([, { fields }]) =>
    entriesOf(fields).flatMap(([, { ref, set }]) =>
      ref !== undefined && Object.values(set).some(({ source }) => isCaller(source)) ? [ref] : [],
    ),
  );
  const read = model.endpoints.flatMap(({ does, identity }) => {
    const effect = statedValue(does);
    return identity && isCaller(identity.source) && effect && 'resource' in effect ? [effect.resource] : [];
  });
  return [...new Set([...referred, ...read])].filter((name) => {
    const field = statedValue(model.resource(name)?.identifier)?.field;
    return field !== undefined && model.endpointsThat('create', name).length > 0 && isSendable(model, name, field);
  });
}

const isCaller = (source: string): boolean => source.trim() === 'caller.id';

/** What was answered when rows that stand for callers were made, by whom they stand for; each is made once in a run. */
const made = new WeakMap<Client, Map<string, Promise<TrialExchange>>>();

/** Notes the rows that stand for callers, to be removed or told of in the end: they stay as long as there are trials. */
export async function noteOwnRows(run: { readonly client: Client; readonly made: Made; readonly model: Model }): Promise<void> {
  for (const exchange of await Promise.all(made.get(run.client)?.values() ?? [])) run.made.note(exchange, run.model, undefined);
}

/** Forgets them: a service that was started anew has none. */
export function forgetOwnRows(client: Client): void {
  made.delete(client);
}

/** The steps that make the rows which stand for a caller, for whatever it does next to need them. */
export async function ownRowSteps(session: Session, { id }: TrialCaller, creation: Creation): Promise<Step<TrialExchange>[]> {
  const { model } = session;
  const steps: Step<TrialExchange>[] = [];
  for (const resource of id === undefined ? [] : ownResources(model)) {
    const field = model.identifierField(resource);
    const plan = await ifTestable(creation(resource, { body: { [field]: id ?? null } }));
    if (plan) steps.push(once(plan, `${resource}\n${id}`));
  }
  return steps;
}

function once(plan: RequestPlan, key: string): Step<TrialExchange> {
  const step = sending(plan);
  return {
    ...step,
    act(run) {
      const all = made.get(run.client) ?? new Map<string, Promise<TrialExchange>>();
      made.set(run.client, all);
      const before = all.get(key);
      if (before) return before;
      const sent = step.act({ ...run, note: () => {} });
      all.set(key, sent);
      // What no answer came to is asked again.
      sent.catch(() => all.delete(key));
      return sent;
    },
    *smaller() {},
  };
}
