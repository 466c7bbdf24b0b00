import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, entryOf, statedValue } from '../../parts/fact.ts';
import { fieldNaming, followedOf } from '../../parts/followed.ts';
import { namesOperation, resourceOfEffect } from '../../parts/operations.ts';
import type { Resource } from '../../parts/resources.ts';
import { transitionsOf } from '../../parts/states.ts';
import type { Demand } from '../exchange/row.ts';
import { defaultsIn } from '../model/field-rules.ts';
import type { Model } from '../model/model.ts';
import { isSendable } from '../model/own-body.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import { edgesOf } from '../values/variants.ts';

type Reads = ReturnType<Model['expressions']['readsOf']>;

/** So many values of the new row's own are held against what it refers to. */
const valuesMost = 4;

/**
 * What errors of the service's own ask of what a new row refers to beside the row's own members: the longer a wall is, the more places in it
 * there are. It is a wish: the more of the row's own values are taken, the better.
 */
export function roomyDemands(model: Model, endpoint: Endpoint, field: string): readonly Demand[] {
  const all = known.get(model) ?? new Map<string, readonly Demand[]>();
  known.set(model, all);
  const key = `${endpoint.key}\n${field}`;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const found =
    all.get(key) ??
    (resource
      ? [
          ...ownRoom(model, endpoint, resource, field),
          ...roomToFollow(model, resource, field),
          ...roomToFire(model, resource, field),
        ]
      : []);
  all.set(key, found);
  return found;
}

/** Found once for each reference. */
const known = new WeakMap<Model, Map<string, readonly Demand[]>>();

/** What errors of making the row ask. */
function ownRoom(model: Model, endpoint: Endpoint, resource: Resource, field: string): Demand[] {
  return ownRulesAt(model, endpoint).flatMap(({ rule }): Demand[] => {
    const condition = rule.if;
    const reads = condition ? model.expressions.readsOf(condition, endpoint.operation) : [];
    const split = condition && splitReads(model, resource, field, reads, 'next');
    if (!condition || !split) return [];
    const samples = samplesOf(model, resource, split);
    if (samples.length === 0) return [];
    const room = (row: Readonly<Record<string, Json>>) =>
      samples.filter(({ own, reckoned }) =>
        isSpared(model, condition, endpoint.operation, { [field]: field, ...own }, { ...row, ...reckoned }),
      ).length;
    return [{ members: split.through, source: condition.source, isFirm: false, isMet: (row) => room(row) > 0, room }];
  });
}

/** What the conditions of its transitions ask: a part is lent where there are as many of it as are asked for. */
function roomToFire(model: Model, resource: Resource, field: string): Demand[] {
  return transitionsOf(model.spec.states, resource.name).flatMap(([, transition]): Demand[] => {
    const { if: condition } = transition;
    const reads = condition ? model.expressions.readsOf(condition, undefined) : [];
    const split = condition && splitReads(model, resource, field, reads, 'resource');
    const samples = split && split.reckoned.length === 0 ? samplesOf(model, resource, split) : [];
    if (!condition || !split || samples.length === 0) return [];
    const room = (row: Readonly<Record<string, Json>>) =>
      samples.filter(({ own }) => {
        const context = { resource: { [field]: field, ...own }, follow: () => row };
        const evaluated = model.expressions.evaluate(condition, undefined, { context });
        return typeof evaluated === 'object' && evaluated.value === true;
      }).length;
    return [{ members: split.through, source: condition.source, isFirm: false, isMet: (row) => room(row) > 0, room }];
  });
}

/**
 * What errors of making another row ask of it that follows from changes of the row later on: packing an order writes down a withdrawal, for which
 * there has to be enough of what the order is of.
 */
function roomToFollow(model: Model, resource: Resource, field: string): Demand[] {
  const acts = followedOf(model.spec).flatMap((one) => (one.resource === resource.name ? one.acts : []));
  return acts.flatMap(({ does, set }): Demand[] => {
    const [tie] = Object.entries(set).find(([, { source }]) => fieldNaming(source) === field) ?? [];
    if (does?.verb !== 'create' || tie === undefined) return [];
    const making = model.operations.find(({ name }) => name === `create ${does.resource}`);
    const rules = model.refusals
      .all()
      .flatMap(({ rule }) => (rule.if && rule.on && making && namesOperation(rule.on, making) ? [rule.if] : []));
    return rules.flatMap((condition): Demand[] => {
      const reads = model.expressions.readsOf(condition, undefined);
      const through = reads.flatMap(({ path: [name], follows = [] }) => (name === tie && follows.length === 1 ? follows : []));
      const rest = reads.filter(({ path: [name] }) => name !== tie);
      const read = rest.flatMap(({ root, path: [name = ''], follows }) =>
        root === 'next' && !follows ? [set[name]] : [undefined],
      );
      const own = read.flatMap((one) => (one ? ownReads(model, resource, one) : [undefined]));
      if (through.length === 0 || !own.every((one) => one !== undefined)) return [];
      const samples = samplesOf(model, resource, { own: [...new Set(own)], reckoned: [] });
      const room = (row: Readonly<Record<string, Json>>) =>
        samples.filter((sample) => {
          const context = { next: { ...defaultsIn(resource), ...sample.own } };
          const made = Object.entries(set).flatMap(([name, one]): [string, Json][] => {
            const told = model.expressions.evaluate(one, undefined, { context });
            return typeof told === 'object' && name !== tie ? [[name, told.value]] : [];
          });
          return isSpared(model, condition, undefined, { ...Object.fromEntries(made), [tie]: tie }, row);
        }).length;
      return [{ members: through, source: condition.source, isFirm: false, isMet: (row) => room(row) > 0, room }];
    });
  });
}

/** The members of a row that an expression reads, where these can be sent and it reads nothing else. */
function ownReads(model: Model, { name }: Resource, expression: Expression): (string | undefined)[] {
  return model.expressions
    .readsOf(expression, undefined)
    .map(({ root, path: [member = ''], follows }) =>
      root === 'next' && !follows && isSendable(model, name, member) ? member : undefined,
    );
}

interface Split {
  /** Members of what is referred to that can be chosen. */
  readonly through: readonly string[];
  /** Those that the service reckons, of all that refers to it. */
  readonly reckoned: readonly string[];
  /** Members of the new row. */
  readonly own: readonly string[];
}

/** What a condition reads of what a field refers to, and of the row itself, where it reads nothing else. */
function splitReads(model: Model, resource: Resource, field: string, reads: Reads, of: 'next' | 'resource'): Split | undefined {
  const target = model.resource(entryOf(resource.fields, field)?.ref ?? '');
  const found = { through: new Set<string>(), reckoned: new Set<string>(), own: new Set<string>() };
  for (const { root, path, follows = [] } of reads) {
    const [name = '', ...more] = path;
    if (root !== of || more.length > 0 || follows.length > 1) return undefined;
    const [member] = follows;
    if (member !== undefined && name === field) {
      const isReckoned = entryOf(target?.fields, member)?.derive !== undefined;
      (isReckoned ? found.reckoned : found.through).add(member);
    } else if (member !== undefined || !isSendable(model, resource.name, name)) return undefined;
    else if (entryOf(resource.fields, name)?.ref === undefined) found.own.add(name);
  }
  if (found.through.size === 0 || found.own.size + found.reckoned.size === 0) return undefined;
  return { through: [...found.through], reckoned: [...found.reckoned], own: [...found.own] };
}

interface Sample {
  readonly own: Readonly<Record<string, Json>>;
  readonly reckoned: Readonly<Record<string, Json>>;
}

/** What is reckoned of few rows, of some and of many. */
const reckonedAs = [1, 10, 100, 250, 1_000, 1_000_000];

/** Values of members as a new row may have them, those at the edges of their shapes; and of what is reckoned. */
function samplesOf(model: Model, resource: Resource, { own, reckoned }: Pick<Split, 'own' | 'reckoned'>): Sample[] {
  const each = own.map((name) => {
    const shape = statedValue(entryOf(resource.fields, name)?.shape ?? { standing: 'open', at: '' });
    const fits = shape && model.schemas.of(shape, 'sent');
    const values = shape ? [...edgesOf(shape)].flatMap(({ value }) => (fits?.(value).length === 0 ? [value] : [])) : [];
    return { name, values: values.slice(0, valuesMost) };
  });
  if (each.some(({ values }) => values.length === 0)) return [];
  const longest = Math.max(reckoned.length > 0 ? reckonedAs.length : 0, ...each.map(({ values }) => values.length));
  return Array.from({ length: longest }, (_, at) => ({
    own: Object.fromEntries(each.map(({ name, values }) => [name, values[at % values.length] ?? null])),
    reckoned: Object.fromEntries(reckoned.map((name) => [name, reckonedAs[at % reckonedAs.length] ?? 0])),
  }));
}

/** Whether a condition does not hold of a new row that refers to such a one. */
function isSpared(
  model: Model,
  condition: Expression,
  operation: string | undefined,
  next: Readonly<Record<string, Json>>,
  row: Readonly<Record<string, Json>>,
): boolean {
  const evaluated = model.expressions.evaluate(condition, operation, { context: { next, operation, follow: () => row } });
  return typeof evaluated === 'object' && evaluated.value === false;
}
