import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entryOf } from '../../parts/fact.ts';
import { conditionsOfTransition, type Machine, machineIn, type Transition, transitionsOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { Demand, WantedRow } from '../exchange/row.ts';
import { callerContext } from '../model/access.ts';
import type { Model } from '../model/model.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { leadsTo, shortestWays } from './legs.ts';
import { errorsOfRow } from './spared-by-errors.ts';

/** The errors of the service's own that a new row may be refused with for what it refers to. */
export function ownDemands({ model }: Session, endpoint: Endpoint, field: string, asking: TrialCaller | undefined): Demand[] {
  return ownRulesAt(model, endpoint).flatMap(({ rule }) => {
    const condition = rule.if;
    const reads = condition ? model.expressions.readsOf(condition, endpoint.operation) : [];
    const through = membersThrough(reads, 'next', field);
    if (!condition || !through || !knowsCaller(reads, asking)) return [];
    const read = { root: 'next', field, way: through.way } as const;
    const isMet = (row: ShownFields) => whatHolds(model, condition, endpoint.operation, read, row, asking) === false;
    return [{ ...through, source: condition.source, isFirm: true, isMet }];
  });
}

/** A new row is to refer to what its maker is permitted to make one for. */
export function permittingDemands(
  { model }: Session,
  endpoint: Endpoint,
  field: string,
  asking: TrialCaller | undefined,
): Demand[] {
  const operation = model.operationOf(endpoint);
  if (!asking || model.access.isPublic(operation)) return [];
  const conditions = (model.access.rules(operation, asking) ?? []).map((rule) => rule.if);
  if (conditions.includes(undefined)) return [];
  const readable = conditions.flatMap((condition) => {
    const reads = condition ? model.expressions.readsOf(condition, operation.name) : [];
    const through = membersThrough(reads, 'next', field);
    return condition && through && knowsCaller(reads, asking) ? [{ condition, through }] : [];
  });
  const [first] = readable;
  if (!first) return [];
  // Of several ways to be permitted the first will do, with those that read the same row.
  const { way } = first.through;
  const alike = readable.filter(({ through }) => isSame([...through.way], [...way]));
  const isMet = (row: ShownFields) =>
    alike.some(
      ({ condition }) => whatHolds(model, condition, operation.name, { root: 'next', field, way }, row, asking) === true,
    );
  const members = [...new Set(alike.flatMap(({ through }) => through.members))];
  return [{ way, members, source: alike.map(({ condition }) => condition.source).join(' '), isFirm: true, isMet }];
}

/** Whether all is known that is read of whoever asks. */
function knowsCaller(reads: Reads, asking: TrialCaller | undefined): boolean {
  const { caller: known = {} } = callerContext(asking);
  return reads.every(
    ({ root, path: [member] }) =>
      root !== 'caller' || (member !== undefined && typeof known === 'object' && known !== null && Object.hasOwn(known, member)),
  );
}

/** Who refers to a row has to be one who may read it. */
export function readingDemands({ model }: Session, target: string, asking: TrialCaller | undefined): Demand[] {
  const [reading] = [...model.endpointsThat('read', target), ...model.endpointsThat('list', target)];
  if (!reading || !asking) return [];
  const operation = model.operationOf(reading);
  const conditions = (model.access.rules(operation, asking) ?? []).map((rule) => rule.if);
  if (model.access.isPublic(operation) || conditions.length === 0 || conditions.includes(undefined)) return [];
  const reads = conditions.flatMap((condition) => (condition ? model.expressions.readsOf(condition, operation.name) : []));
  const members = reads.flatMap(({ root, path }) => (root === 'resource' && path[0] !== undefined ? [path[0]] : []));
  const isMet = (row: ShownFields) => model.access.allows(operation, asking, { context: { resource: row } }) === 'yes';
  const source = conditions.map((condition) => condition?.source ?? '').join(' ');
  return [{ members: [...new Set(members)], source, isFirm: true, isMet }];
}

/** Where what a row refers to decides in which of several states it begins, it is to be one from which the row comes to where it is wanted. */
export function beginningDemands(
  session: Session,
  { resource, operation, field }: { readonly resource: string; readonly operation: string; readonly field: string },
  { state, machine: stated, byClock }: WantedRow,
  asking: TrialCaller | undefined,
): Demand[] {
  const { model } = session;
  const machine = stated ?? machineIn(model.spec.states, resource, state);
  if (!machine || state === undefined || machine.initial.length < 2) return [];
  const conditions = machine.initial.flatMap((target) => target.if ?? []);
  const reads = conditions.flatMap((condition) => model.expressions.readsOf(condition, operation));
  const through = membersThrough(reads, 'next', field);
  if (!through || !knowsCaller(reads, asking)) return [];
  const read = { root: 'next', field, way: through.way } as const;
  const isMet = (row: ShownFields) => {
    const begins = machine.initial.find(
      (target) => !target.if || whatHolds(model, target.if, operation, read, row, asking) !== false,
    );
    return begins !== undefined && leadsTo(session, machine, begins.state, state, byClock);
  };
  return [{ ...through, source: conditions.map(({ source }) => source).join(' '), isFirm: false, isMet }];
}

/** A row that is to be in a state has to be one whose transitions are open, and refused by none of the service's own errors, but for the one that is to be blocked. */
export function firingDemands({ model }: Session, resource: string, field: string, { state, blocking }: WantedRow): Demand[] {
  if (state === undefined) return [];
  return transitionsOf(model.spec.states, resource).flatMap(([name, transition]) => {
    const operation = model.endpointOfTransition(resource, name)?.operation;
    const errors = errorsOfRow(model, resource, transition);
    return [...conditionsOfTransition(transition), ...errors].flatMap((condition) => {
      const reads = model.expressions.readsOf(condition, operation);
      const through = membersThrough(reads, 'resource', field);
      // Who is to fire it is not known yet.
      if (!through || !knowsCaller(reads, undefined)) return [];
      const read = { root: 'resource', field, way: through.way } as const;
      // What is to be blocked is so by its own condition: none of the service's own errors refuses it.
      const isError = errors.includes(condition);
      const isBlocking = !isError && name === blocking;
      const isMet = (row: ShownFields) => whatHolds(model, condition, operation, read, row) === (!isError && !isBlocking);
      return [{ ...through, source: condition.source, isFirm: isBlocking, isMet }];
    });
  });
}

/** Of transitions that lead to several states the row has to choose the one on its way: oysters of water that is not clean are harvested, and not cleared. */
export function leadingDemands({ model }: Session, resource: string, field: string, { state, machine }: WantedRow): Demand[] {
  const moved = machine ?? machineIn(model.spec.states, resource, state);
  return moved && state !== undefined
    ? wayTo(model, moved, state).flatMap(({ transition, target }) => {
        const operation = model.endpointOfTransition(resource, transition.name)?.operation;
        const at = transition.to.findIndex((one) => one.state === target);
        return transition.to.slice(0, at + 1).flatMap((one, index): Demand[] => {
          const condition = one.if;
          const reads = condition ? model.expressions.readsOf(condition, operation) : [];
          const root = reads.some((read) => read.root === 'next') ? 'next' : 'resource';
          const through = membersThrough(reads, root, field);
          if (!condition || !through || !knowsCaller(reads, undefined)) return [];
          const read = { root, field, way: through.way } as const;
          const isMet = (row: ShownFields) => whatHolds(model, condition, operation, read, row) === (index === at);
          return [{ ...through, source: condition.source, isFirm: true, isMet }];
        });
      })
    : [];
}

/** So many transitions are on the way to a state at most. */
const stepsMost = 6;

/** The transitions that callers fire until a row is in a state, the last first, and where each leads then. */
function wayTo(model: Model, machine: Machine, state: string): { readonly transition: Transition; readonly target: string }[] {
  const ways = shortestWays(model, machine);
  const way: { readonly transition: Transition; readonly target: string }[] = [];
  for (let target: string | undefined = state; target !== undefined && way.length < stepsMost; ) {
    const name: string | undefined = ways.get(target);
    const transition: Transition | undefined = name === undefined ? undefined : entryOf(machine.transitions, name);
    if (!transition) break;
    way.push({ transition, target });
    target = transition.from === '*' ? undefined : transition.from.find((one) => ways.has(one));
  }
  return way;
}

type Reads = ReturnType<Session['model']['expressions']['readsOf']>;

/** Of which row a condition reads members: that which a field refers to, or what that leads to by further references. */
interface Through {
  readonly way: readonly string[];
  readonly members: readonly string[];
}

/** The members of one row that a field leads to, where a condition reads nothing else, but for whoever asks and whether there is any. */
function membersThrough(all: Reads, root: string, field: string): Through | undefined {
  const isField = ({ root: of, path, follows }: Reads[number]) =>
    of === root && !follows && path.length === 1 && path[0] === field;
  const reads = all.filter((read) => (read.root !== 'caller' || read.follows) && !isField(read));
  const through = reads.flatMap(({ root: of, path: [name, ...more], follows = [] }) => {
    const member = follows.at(-1);
    return of === root && name === field && member !== undefined && more.length === 0
      ? [{ way: follows.slice(0, -1), member }]
      : [];
  });
  const [first] = through;
  if (!first || through.length < reads.length || through.some(({ way }) => !isSame([...way], [...first.way]))) return undefined;
  return { way: first.way, members: [...new Set(through.map(({ member }) => member))] };
}

/** What a condition comes to where a field refers to such a row, or leads to it. */
function whatHolds(
  model: Session['model'],
  condition: Expression,
  operation: string | undefined,
  { root, field, way }: { readonly root: 'next' | 'resource'; readonly field: string; readonly way: readonly string[] },
  row: ShownFields,
  asking?: TrialCaller,
): Json | undefined {
  const who = asking ? callerContext(asking) : {};
  // Rows on the way are named by how far they are.
  const follow = (_resource: string, key: unknown): ShownFields => {
    const at = Number(key);
    const next = way[at];
    return next === undefined ? row : { [next]: `${at + 1}` };
  };
  const context = { ...who, [root]: { [field]: '0' }, ...(operation !== undefined && { operation }), follow };
  const evaluated = model.expressions.evaluate(condition, operation, { context });
  return typeof evaluated === 'object' ? evaluated.value : undefined;
}
