import { compileDays } from '../../kinds/limits/calendar.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Choosing, Operator, Parameter } from '../../parts/parameters.ts';
import { isOfSeveralRows, type Reach, type ReachStep, reachOf } from '../../parts/reach.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Condition, Operand, RowLink, Scalar } from '../../store/store.ts';
import { columnCode, fieldCode } from '../exchange/column.ts';
import type { Value } from '../exchange/exchange.ts';
import { toJson } from '../http/json.ts';
import { compileListRule, type RowFilter } from './list-access.ts';
import type { Bindings, Prepare, RuleColumns } from './rules.ts';

/** What a parameter makes of the value that was sent: which rows are shown. */
export interface RowChoice {
  readonly parameter: Parameter;
  /** The fields that it reads on its way, of each resource. */
  readonly reads: readonly (readonly [resource: string, field: string])[];
  /** The resources through whose rows it goes: of them, a caller is shown what it may read. */
  readonly through: readonly string[];
  /** The columns that rows are found by without a look at each of them. */
  readonly leading: readonly string[];
  /** `seen` = which rows of a resource the caller may read; nothing = all of them. */
  filter(value: Value, scope: Bindings, seen: (resource: string) => RowFilter | undefined): RowFilter;
}

/** Compiles what a list's parameters choose by, and asks for the columns that it needs. */
export function compileChoices(
  spec: Spec,
  { name, endpoint, resource = '' }: Operation,
  prepare: Prepare,
  columns: RuleColumns,
): RowChoice[] {
  return entriesOf(endpoint?.parameters).flatMap(([, parameter]) => {
    const { chooses } = parameter;
    if (!chooses) return [];
    if (chooses.by === 'path') return choosePath(spec, resource, parameter, chooses, columns);
    if (chooses.by === 'search') return chooseSearch(spec, resource, parameter, chooses.fields, columns);
    return chooseKeeps(spec, { name, resource }, parameter, prepare, columns, chooses);
  });
}

/** A condition with its parameters, before it is known where they begin. */
interface Part {
  /** Equal for conditions of the same form. */
  readonly form: string;
  readonly values: readonly Scalar[];
  where(first: number): Condition;
}

function asFilter({ name }: Parameter, { form, values, where }: Part): RowFilter {
  const whole = `${name} ${form}`;
  return { form: whole, values, where, bound: `${whole}\n${toJson(values)}` };
}

function chooseKeeps(
  spec: Spec,
  { name, resource }: { readonly name: string; readonly resource: string },
  parameter: Parameter,
  prepare: Prepare,
  columns: RuleColumns,
  { condition }: Extract<Choosing, { by: 'keeps' }>,
): RowChoice[] {
  const prepared = prepare(condition, name);
  const rule = compileListRule(spec, resource, prepared, columns);
  if (!rule) return [];
  const reads = prepared
    .reads()
    .flatMap(({ root, path: [field] }) => (root === 'resource' && field !== undefined ? [[resource, field] as const] : []));
  const filter: RowChoice['filter'] = (value, scope) =>
    asFilter(parameter, { form: 'keeps', values: rule.values({ ...scope, value }), where: rule.where });
  return [{ parameter, reads, through: [], leading: rule.equal, filter }];
}

/** So many words may be searched for at once; what is more of them is one word. */
const wordsMost = 16;

function chooseSearch(
  spec: Spec,
  resource: string,
  parameter: Parameter,
  fields: readonly string[],
  columns: RuleColumns,
): RowChoice[] {
  const stated = entryOf(spec.resources.all, resource);
  const codes = fields.flatMap((name) => {
    const field = stated && entryOf(stated.fields, name);
    return field ? [{ name, code: columnCode({ ...statedValue(field.shape), type: 'string' }, true) }] : [];
  });
  const operands = codes.map(({ name, code }): Operand => ({ column: columns.chosen(resource, [name], code, false) }));
  const filter: RowChoice['filter'] = (value) => {
    const words = String(value).toLowerCase().trim().split(/\s+/, wordsMost).filter(Boolean);
    const where = (first: number): Condition => ({
      op: 'and',
      of: words.map((_, index) => ({
        op: 'or',
        of: operands.map((left) => ({ op: 'contains', left, right: { param: first + index } })),
      })),
    });
    return asFilter(parameter, { form: `search ${words.length}`, values: words, where });
  };
  return [{ parameter, reads: codes.map(({ name }) => [resource, name] as const), through: [], leading: [], filter }];
}

function choosePath(
  spec: Spec,
  resource: string,
  parameter: Parameter,
  chooses: Extract<Choosing, { by: 'path' }>,
  columns: RuleColumns,
): RowChoice[] {
  const reached = reachOf(spec, resource, chooses.path);
  if ('wrong' in reached) return [];
  const { steps } = reached;
  const { column, test } = testOf(spec, reached, parameter.op, chooses, columns);
  const links = linksOf(resource, steps, columns);
  const isApart = chooses.isAll && isOfSeveralRows(reached);
  const filter: RowChoice['filter'] = (value, _scope, seen) => {
    const parts = (isApart && Array.isArray(value) ? (value as readonly Value[]) : [value]).map(test);
    const guards = links.map(({ table }) => seen(table));
    const own = parts.flatMap(({ values }) => values);
    const form = [...parts, ...guards].map((part) => part?.form ?? '').join('\n');
    const where = (first: number): Condition => {
      let next = first;
      const placed = <P extends Pick<Part, 'values' | 'where'>>(part: P | undefined) => {
        const condition = part?.where(next);
        next += part?.values.length ?? 0;
        return condition;
      };
      const tests = parts.map((part) => placed(part) as Condition);
      const conditions = guards.map(placed);
      const reaching = (inner: Condition): Condition =>
        links.reduceRight<Condition>((of, { table, by }, index) => {
          const guard = conditions[index];
          return { op: 'some', table, by, of: guard ? { op: 'and', of: [guard, of] } : of };
        }, inner);
      return joined(tests.map(reaching), 'and');
    };
    return asFilter(parameter, { form, values: [...own, ...guards.flatMap((guard) => guard?.values ?? [])], where });
  };
  const isLeading = steps.length === 0 && !reached.isList && parameter.op !== 'contains' && parameter.op !== '!=';
  const through = links.map(({ table }) => table);
  return [{ parameter, reads: readsOf(resource, reached), through, leading: isLeading ? [column] : [], filter }];
}

function readsOf(resource: string, { steps, resource: last, names: [name = ''] }: Reach): RowChoice['reads'] {
  let at = resource;
  const reads = steps.map((step) => {
    const read = 'to' in step ? ([at, step.names[0] ?? ''] as const) : ([step.of, step.field] as const);
    at = 'to' in step ? step.to : step.of;
    return read;
  });
  return [...reads, [last, name]];
}

function linksOf(
  resource: string,
  steps: readonly ReachStep[],
  columns: RuleColumns,
): { readonly table: string; readonly by: RowLink }[] {
  let at = resource;
  return steps.map((step) => {
    if ('to' in step) {
      const via = columns.name(at, step.names, 'id');
      at = step.to;
      return { table: at, by: { to: via } };
    }
    const by = columns.name(step.of, [step.field], 'id');
    columns.seek(step.of, [by]);
    at = step.of;
    return { table: at, by: { from: by } };
  });
}

/** Compiles the test of the value that is reached. */
function testOf(
  spec: Spec,
  { resource, names, shape, isList, ignoreCase }: Reach,
  op: Operator,
  chooses: Extract<Choosing, { by: 'path' }>,
  columns: RuleColumns,
): { readonly column: string; readonly test: (value: Value) => Part } {
  const [first = '', ...inner] = names;
  const stated = entryOf(spec.resources.all, resource);
  const field = stated && entryOf(stated.fields, first);
  const folds = ignoreCase || chooses.ignoreCase;
  const isWhole = inner.length === 0 && !isList && folds === field?.ignoreCase;
  const code = isWhole && field ? fieldCode(spec, field) : columnCode(shape, folds);
  const column = columns.chosen(resource, names, code, isList);
  const operand: Operand = isList ? { item: code.type } : { column };
  const inList = (of: Condition): Condition => (isList ? { op: 'any', column, of } : of);
  // One item of a list is equal, where a list is said to contain it.
  const how = isList && op === 'contains' ? '=' : op;
  if (chooses.zone !== undefined) return { column, test: dayTest(operand, how, chooses.zone, inList) };
  const test = (value: Value): Part => {
    const list = Array.isArray(value) ? value : [value];
    const values = list.map((one) => code.encode(one));
    const isOne = how === '=' || how === 'in';
    if (isOne && !chooses.isAll && list.length !== 1)
      return { form: 'in', values: [toJson(values)], where: (at) => inList({ op: 'in', left: operand, right: { param: at } }) };
    const each = (at: number) =>
      values.map((_, index) => inList({ op: isOne ? '=' : how, left: operand, right: { param: at + index } }));
    const form = `${how} ${values.length}`;
    return { form, values, where: (at) => joined(each(at), chooses.isAll ? 'and' : 'or') };
  };
  return { column, test };
}

function joined(of: readonly Condition[], op: 'and' | 'or'): Condition {
  return of.length === 1 ? (of[0] as Condition) : { op, of };
}

const microseconds = 1000;

/** A date against instants: the day as it is in the zone, from its beginning up to the next one's. */
function dayTest(left: Operand, op: Operator, zone: string, inList: (of: Condition) => Condition): (value: Value) => Part {
  const dayOf = compileDays(zone);
  const compared = (how: '<' | '>=', at: number): Condition => ({ op: how, left, right: { param: at } });
  return (value) => {
    const { startMs, endMs } = dayOf(String(value));
    const [start, end] = [startMs * microseconds, endMs * microseconds];
    if (op === '=' || op === '!=') {
      const where = (at: number): Condition => {
        const within: Condition = { op: 'and', of: [compared('>=', at), compared('<', at + 1)] };
        return inList(op === '=' ? within : { op: 'not', of: within });
      };
      return { form: `day ${op}`, values: [start, end], where };
    }
    const isAfter = op === '>' || op === '>=';
    const limit = op === '>=' || op === '<' ? start : end;
    return { form: `day ${op}`, values: [limit], where: (at) => inList(compared(isAfter ? '>=' : '<', at)) };
  };
}
