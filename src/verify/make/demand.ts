import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Expression } from '../../parts/fact.ts';
import { conditionsOfTransition, machineIn, transitionsOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { WantedRow } from '../exchange/row.ts';
import { callerContext } from '../model/access.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { leadsTo } from './legs.ts';

/** What has to be so of a row for whatever refers to it: that no error of the service's own comes of it, that it may be read, that a transition is open. */
export interface Demand {
  readonly members: readonly string[];
  readonly source: string;
  /** Whether nothing can be made without it. */
  readonly isFirm: boolean;
  isMet(row: ShownFields): boolean;
  /** How much of what may refer to it is taken: of several rows that will do the roomiest is made. */
  room?(row: ShownFields): number;
}

/** The errors of the service's own that a new row may be refused with for what it refers to. */
export function ownDemands({ model }: Session, endpoint: Endpoint, field: string, asking: TrialCaller | undefined): Demand[] {
  return ownRulesAt(model, endpoint).flatMap(({ rule }) => {
    const condition = rule.if;
    const reads = condition ? model.expressions.readsOf(condition, endpoint.operation) : [];
    const members = membersThrough(reads, 'next', field);
    if (!condition || !members || !knowsCaller(reads, asking)) return [];
    const isMet = (row: ShownFields) => whatHolds(model, condition, endpoint.operation, 'next', field, row, asking) === false;
    return [{ members, source: condition.source, isFirm: true, isMet }];
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
    const members = membersThrough(reads, 'next', field);
    return condition && members && knowsCaller(reads, asking) ? [{ condition, members }] : [];
  });
  if (readable.length === 0) return [];
  const isMet = (row: ShownFields) =>
    readable.some(({ condition }) => whatHolds(model, condition, operation.name, 'next', field, row, asking) === true);
  const members = [...new Set(readable.flatMap((one) => one.members))];
  return [{ members, source: readable.map(({ condition }) => condition.source).join(' '), isFirm: true, isMet }];
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
  const members = membersThrough(reads, 'next', field);
  if (!members || !knowsCaller(reads, asking)) return [];
  const isMet = (row: ShownFields) => {
    const begins = machine.initial.find(
      (target) => !target.if || whatHolds(model, target.if, operation, 'next', field, row, asking) !== false,
    );
    return begins !== undefined && leadsTo(session, machine, begins.state, state, byClock);
  };
  return [{ members, source: conditions.map(({ source }) => source).join(' '), isFirm: false, isMet }];
}

/** A row that is to be in a state has to be one whose transitions are open, but for the one that is to be blocked. */
export function firingDemands({ model }: Session, resource: string, field: string, { state, blocking }: WantedRow): Demand[] {
  if (state === undefined) return [];
  return transitionsOf(model.spec.states, resource).flatMap(([name, transition]) => {
    const operation = model.endpointOfTransition(resource, name)?.operation;
    return conditionsOfTransition(transition).flatMap((condition) => {
      const reads = model.expressions.readsOf(condition, operation);
      const members = membersThrough(reads, 'resource', field);
      // Who is to fire it is not known yet.
      if (!members || !knowsCaller(reads, undefined)) return [];
      const isMet = (row: ShownFields) => whatHolds(model, condition, operation, 'resource', field, row) === (name !== blocking);
      return [{ members, source: condition.source, isFirm: name === blocking, isMet }];
    });
  });
}

type Reads = ReturnType<Session['model']['expressions']['readsOf']>;

/** The members of what a field refers to, where a condition reads nothing else, but for whoever asks and whether there is any. */
function membersThrough(all: Reads, root: string, field: string): string[] | undefined {
  const isField = ({ root: of, path, follows }: Reads[number]) =>
    of === root && !follows && path.length === 1 && path[0] === field;
  const reads = all.filter((read) => (read.root !== 'caller' || read.follows) && !isField(read));
  const members = reads.flatMap((read) => {
    const [name, ...more] = read.path;
    const [member, ...further] = read.follows ?? [];
    return read.root === root && name === field && member !== undefined && more.length + further.length === 0 ? [member] : [];
  });
  return members.length > 0 && members.length === reads.length ? [...new Set(members)] : undefined;
}

/** What a condition comes to where a field refers to such a row. */
function whatHolds(
  model: Session['model'],
  condition: Expression,
  operation: string | undefined,
  root: 'next' | 'resource',
  field: string,
  row: ShownFields,
  asking?: TrialCaller,
): Json | undefined {
  const who = asking ? callerContext(asking) : {};
  const context = { ...who, [root]: { [field]: field }, ...(operation !== undefined && { operation }), follow: () => row };
  const evaluated = model.expressions.evaluate(condition, operation, { context });
  return typeof evaluated === 'object' ? evaluated.value : undefined;
}
