import type { Json } from '../document/document.ts';
import { isMap, isSame } from '../document/values.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf, statedValue } from '../parts/fact.ts';
import { resourceOfEffect } from '../parts/operations.ts';
import { identifierParameter } from '../parts/payload.ts';
import { machinesOf } from '../parts/states.ts';
import { asText } from './exchange/as-text.ts';
import { Spent } from './exchange/budget.ts';
import { isDone, type Sent } from './exchange/exchange.ts';
import type { RequestPlan } from './exchange/plan.ts';
import type { TrialRow } from './exchange/row.ts';
import type { ScriptRun } from './exchange/step.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import { callersFor } from './make/callers-for.ts';
import { lookAt } from './make/look.ts';
import { pathValues } from './make/request-about.ts';
import { walkTo } from './make/walk.ts';
import type { Model } from './model/model.ts';
import type { Leftover } from './report.ts';
import type { Session } from './session/session.ts';
import { NoValue } from './values/scalars.ts';

type Fields = Readonly<Record<string, Json>>;

/** A given row as it was before it was changed, and the run that changed it. */
interface Changed {
  readonly resource: string;
  readonly id: Json;
  readonly was: Fields;
  readonly owner: unknown;
}

/** Rows that somebody gave: nothing changes them unless their resource is named for that, and then they are put back. */
export class GivenKept {
  readonly #model: Model;
  readonly #mayChange: readonly string[];
  readonly #start: () => Session;
  readonly #changed = new Map<string, Changed>();
  /** Every row that was ever changed, as it was before all of it. */
  readonly #originals = new Map<string, Fields>();
  /** What could not be put back, by row. */
  readonly #lost = new Map<string, Leftover>();
  #isPuttingBack = false;

  constructor(model: Model, mayChange: readonly string[], start: () => Session) {
    this.#model = model;
    this.#mayChange = mayChange;
    this.#start = start;
  }

  /** Lets a request go that may change something. @throws {Untestable} where it would change a row that has to stay as it is */
  async guard(plan: RequestPlan, sent: Sent, run: ScriptRun): Promise<void> {
    if (this.#isPuttingBack) return;
    for (const { resource, id } of touchedBy(this.#model, plan, sent)) {
      if (!this.#mayChange.includes(resource))
        throw new Untestable(`the ${resource} was given, and is only changed with --may-change ${resource}`);
      // What is deleted for good cannot be put back.
      if (plan.method === 'DELETE' && this.#model.endpointsThat('upsert', resource).length === 0)
        throw new Untestable(`the ${resource} was given, and no operation makes it again once it is deleted`);
      await this.#remember(resource, id, run.owner);
    }
  }

  async #remember(resource: string, id: Json, owner: unknown): Promise<void> {
    const key = keyOf(resource, id);
    if (this.#changed.has(key)) return;
    const { fields } = await lookAt(this.#start(), rowOf(resource, id));
    if (!fields) throw new Untestable(`the ${resource} that was given is not there`);
    const was = this.#originals.get(key) ?? fields;
    this.#originals.set(key, was);
    this.#changed.set(key, { resource, id, was, owner });
  }

  /** Puts back what one run, or any, has changed; says of what cannot be. */
  async putBack(owner?: unknown): Promise<readonly Leftover[]> {
    const due = [...this.#changed].filter(([, changed]) => owner === undefined || changed.owner === owner);
    for (const [key, changed] of due) {
      this.#isPuttingBack = true;
      const why = await this.#restore(changed).catch((error: unknown) => {
        if (![Untestable, Missing, NoValue, Spent].some((known) => error instanceof known)) throw error;
        return error instanceof Error ? error.message : String(error);
      });
      this.#isPuttingBack = false;
      this.#changed.delete(key);
      if (why === undefined) this.#lost.delete(key);
      else
        this.#lost.set(key, {
          resource: changed.resource,
          count: 1,
          why: `${JSON.stringify(changed.id)}, which was given, was changed, and is not as it was: ${why}`,
        });
    }
    return [...this.#lost.values()];
  }

  /** Why a row is not as it was; nothing where it is. */
  async #restore({ resource, id, was }: Changed): Promise<string | undefined> {
    const session = this.#start();
    const row: TrialRow = { ...rowOf(resource, id), known: was, fields: was };
    const gone = (await lookAt(session, row)).fields === undefined;
    if (gone) await this.#write(session, row, was, ['upsert']);
    let stays: string | undefined;
    for (const machine of machinesOf(this.#model.spec.states, resource)) {
      const state = was[machine.field];
      if (typeof state === 'string' && row.fields?.[machine.field] !== state)
        stays ??= await walkTo(session, row, state, { machine }).then(() => undefined, whyUntestable);
    }
    const now = (await lookAt(session, row)).fields ?? {};
    const other = this.#writable(resource).filter((name) => !isSame(now[name] ?? null, was[name] ?? null));
    if (other.length > 0) await this.#write(session, row, was, ['update', 'replace', 'upsert'], other);
    const { fields } = await lookAt(session, row);
    if (!fields) return 'it is gone';
    const left = this.#writable(resource).filter((name) => !isSame(fields[name] ?? null, was[name] ?? null));
    return left.length === 0 ? stays : `${left.join(', ')} stayed`;
  }

  /** Sends what a row was, by the first operation that takes it. @throws {Untestable} where none does. */
  async #write(
    session: Session,
    row: TrialRow,
    was: Fields,
    verbs: readonly string[],
    changed: readonly string[] = [],
  ): Promise<void> {
    const model = this.#model;
    let why = 'no operation changes it back';
    for (const endpoint of verbs.flatMap((verb) => model.endpointsThat(verb, row.resource))) {
      const names = statedValue(endpoint.does)?.verb === 'update' ? changed : this.#writable(row.resource);
      const json = Object.fromEntries(
        names.flatMap((name) =>
          Object.hasOwn(was, name) ? [[name, was[name] as Json]] : changed.includes(name) ? [[name, null]] : [],
        ),
      );
      const path = { ...pathValues(model, endpoint, row), [identifierParameter(endpoint) ?? '']: row.id };
      for (const caller of callersFor(session, endpoint, row).slice(0, 2)) {
        const headers = await session.preconditions(endpoint, row, caller);
        const { value } = await session.send(model.request(endpoint, { path, caller, json, headers }));
        if (isDone(value)) return;
        why = `${endpoint.key} was answered ${value.status}`;
      }
    }
    throw new Untestable(why);
  }

  /** The fields that a caller may send, but for the identifier and the state. */
  #writable(resource: string): string[] {
    const stated = this.#model.resource(resource);
    const states = machinesOf(this.#model.spec.states, resource).map(({ field }) => field);
    const own = [this.#model.identifierField(resource), ...states];
    return (stated ? entriesOf(stated.fields) : []).flatMap(([name, { readOnly, immutable }]) =>
      readOnly || immutable || own.includes(name) ? [] : [name],
    );
  }
}

/** The given rows that a request may change: the one that it is about, and where nobody knows what it does all that it names. */
function touchedBy(model: Model, { endpoint }: RequestPlan, sent: Sent): { readonly resource: string; readonly id: Json }[] {
  const effect = endpoint && statedValue(endpoint.does);
  const resource = resourceOfEffect(effect);
  if (endpoint && resource !== undefined && knownVerbs.has(effect?.verb ?? '')) {
    const id = idOf(endpoint, sent);
    return id !== undefined && model.seeds.isGiven(resource, id) ? [{ resource, id }] : [];
  }
  const segments = (sent.target.split('?')[0] ?? '').split('/').map(decoded);
  const named = [...segments, ...scalarsIn(sent.json ?? null)];
  return named.flatMap((id) => model.seeds.resourcesOf(id).map((one) => ({ resource: one, id })));
}

const knownVerbs: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert', 'delete', 'transition']);

function idOf(endpoint: Endpoint, { path }: Sent): Json | undefined {
  const last = identifierParameter(endpoint);
  return last === undefined ? undefined : path[last];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The texts and numbers in a value. */
function scalarsIn(value: Json): Json[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => scalarsIn(item));
  if (isMap(value)) return Object.values(value).flatMap((item) => scalarsIn(item as Json));
  return typeof value === 'string' || typeof value === 'number' ? [value] : [];
}

function rowOf(resource: string, id: Json): TrialRow {
  return { resource, id, known: {}, caller: undefined, shown: undefined, fields: undefined };
}

/** @throws what is none of that */
function whyUntestable(error: unknown): string {
  if (error instanceof Untestable) return error.message;
  throw error;
}

function keyOf(resource: string, id: Json): string {
  return `${resource}\n${asText(id)}`;
}
