import type { Spec } from '../spec.ts';
import type { CelType } from './cel-type.ts';
import { compileNode } from './compile.ts';
import type { DecidedParam, Filter, FilterField, FilterKey, FilterKind, FilterOperand, FilterParam } from './filter-form.ts';
import { type Inferred, inferTypes } from './infer.ts';
import { childNodes, type Node, type NodeOf, parseExpression } from './node.ts';
import type { Scope } from './scope.ts';

interface Decidable {
  readonly filter: Filter;
  /** What does not read the row, by the index under which the filter speaks of it: evaluated before the rows are looked at. */
  readonly params: readonly DecidedParam[];
}

/** Why no database can decide a condition. Offsets are into its text. */
interface Undecidable {
  readonly undecidable: string;
  readonly offset: number;
  readonly length: number;
}

/** Translates a condition over `resource`, each row, so that a database can decide it. */
export function toFilter(
  spec: Spec,
  use: { readonly source: string; readonly scope: Scope },
  row = 'resource',
): Decidable | Undecidable {
  const parsed = parseExpression(use.source);
  if ('unparsed' in parsed) return { undecidable: parsed.unparsed.message, offset: parsed.unparsed.start, length: 0 };
  const inferred = inferTypes(spec, use.scope, use.source, parsed.node);
  const writer = new FilterWriter(inferred, use.source, row);
  try {
    const filter = writer.write(parsed.node, true);
    const any = { scope: use.scope, expected: { shape: {} } };
    return {
      filter,
      params: writer.params.map(({ node, kind }) => ({ compiled: compileNode(spec, use.source, node, inferred, any), kind })),
    };
  } catch (error) {
    if (!(error instanceof Standing)) throw error;
    const { start, end } = error.node;
    return { undecidable: error.message, offset: start, length: end - start };
  }
}

/** What stands in the way of deciding a condition in a database. */
class Standing extends Error {
  readonly node: Node;
  constructor(node: Node, message: string) {
    super(message);
    this.node = node;
  }
}

const kinds: { readonly [Is in CelType['is']]?: FilterKind } = {
  bool: 'bool',
  int: 'int',
  double: 'double',
  string: 'string',
  ref: 'id',
  timestamp: 'timestamp',
};
const swapped = { '==': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const;

/** Writes a condition as a filter. */
class FilterWriter {
  readonly types: Inferred['types'];
  readonly lookups: Inferred['lookups'];
  readonly source: string;
  readonly row: string;
  /** What does not read the row. */
  readonly params: { readonly node: Node; readonly kind: FilterKind }[] = [];

  constructor({ types, lookups }: Inferred, source: string, row: string) {
    this.types = types;
    this.lookups = lookups;
    this.source = source;
    this.row = row;
  }

  /** `positive` = the rows for which it holds are meant; below a `!`, those for which it does not. @throws {Standing} */
  write(node: Node, positive: boolean): Filter {
    if (node.op === 'literal' && typeof node.value === 'boolean') return { op: node.value ? 'true' : 'false' };
    if (node.op === 'not') return { op: 'not', of: this.write(node.of, !positive) };
    if (node.op === 'and' || node.op === 'or') {
      return { op: node.op, of: [this.write(node.left, positive), this.write(node.right, positive)] };
    }
    if (!this.readsRow(node, new Set())) return { op: '=', left: this.param(node, 'bool'), right: { value: true } };
    switch (node.op) {
      case 'has':
        return { op: 'not', of: { op: 'absent', of: this.asked(node.field) } };
      case 'field':
        return { op: '=', left: this.field(node), right: { value: true } };
      case 'binary':
        return this.binary(node, positive);
      case 'call':
        return this.call(node);
      case 'choose':
        return this.choose(node, positive);
      default:
        throw this.standing(node);
    }
  }

  binary(node: NodeOf<'binary'>, positive: boolean): Filter {
    if (node.operator === 'in') return this.member(node);
    if (!(node.operator in swapped)) throw this.standing(node);
    const sided = this.againstBoolean(node, positive);
    if (sided) return sided;
    // One of the six that `swapped` holds.
    return { op: swapped[node.operator as keyof typeof swapped], ...this.sides(node.left, node.right) };
  }

  /** `has(resource.x) == true` is the condition itself or its contrary. */
  againstBoolean(node: NodeOf<'binary'>, positive: boolean): Filter | undefined {
    const [literal, other] = node.right.op === 'literal' ? [node.right, node.left] : [node.left, node.right];
    if (literal.op !== 'literal' || typeof literal.value !== 'boolean' || (node.operator !== '==' && node.operator !== '!='))
      return undefined;
    const same = literal.value === (node.operator === '==');
    return same ? this.write(other, positive) : { op: 'not', of: this.write(other, !positive) };
  }

  member(node: NodeOf<'binary'>): Filter {
    const { left, right } = node;
    const kind = this.kindOf(left);
    if (!this.readsRow(right, new Set())) return { op: 'in', left: this.operand(left, kind), right: this.param(right, kind) };
    if (right.op !== 'list') {
      throw new Standing(right, `\`${this.textOf(right)}\` is a list in the row, which a database cannot look into.`);
    }
    const items = right.items.map((item) => ({ item: this.operand(item, kind), one: this.operand(left, this.kindOf(item)) }));
    const some: Filter = { op: 'or', of: items.map(({ item, one }): Filter => ({ op: '=', left: one, right: item })) };
    // A list of which one item is missing is no list: what is not there does not equal itself either, and is null.
    const whole = items.map(({ item }): Filter => ({ op: '=', left: item, right: item }));
    return { op: 'and', of: [...whole, some] };
  }

  call(node: NodeOf<'call'>): Filter {
    const [arg] = node.args;
    const op = node.name === 'startsWith' ? 'prefix' : node.name === 'contains' ? 'contains' : undefined;
    if (!op || !node.on || !arg) throw this.standing(node);
    return { op, ...this.sides(node.on, arg) };
  }

  /** Written so that a condition that fails never makes the rows more that are meant. */
  choose(node: NodeOf<'choose'>, positive: boolean): Filter {
    const [asked, refused] = [this.write(node.if, positive), this.write(node.if, !positive)];
    const [yes, no] = [this.write(node.yes, positive), this.write(node.no, positive)];
    const not: Filter = { op: 'not', of: refused };
    if (positive)
      return {
        op: 'or',
        of: [
          { op: 'and', of: [asked, yes] },
          { op: 'and', of: [not, no] },
        ],
      };
    return {
      op: 'and',
      of: [
        { op: 'or', of: [not, yes] },
        { op: 'or', of: [asked, no] },
      ],
    };
  }

  /** Two operands; one that does not read the row has to be of the other's kind. */
  sides(left: Node, right: Node): { readonly left: FilterOperand; readonly right: FilterOperand } {
    return { left: this.operand(left, this.kindOf(right)), right: this.operand(right, this.kindOf(left)) };
  }

  kindOf(node: Node): FilterKind {
    const type = this.types.get(node);
    return (type && kinds[type.is]) ?? 'any';
  }

  operand(node: Node, other: FilterKind): FilterOperand {
    if (node.op === 'literal' && node.value !== null) {
      const { value } = node;
      return { value: typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value };
    }
    return this.readsRow(node, new Set()) ? this.field(node) : this.param(node, other);
  }

  param(node: Node, kind: FilterKind): FilterParam {
    const type = this.types.get(node)?.is;
    if (type === 'object' || type === 'map' || type === 'duration') throw this.standing(node);
    return { param: this.params.push({ node, kind }) - 1 };
  }

  /** A path that starts at the row and ends at a value that a column can hold. */
  field(node: Node, use?: 'asked', as?: FilterKind): FilterField {
    const names: string[] = [];
    const ends: { readonly names: readonly string[]; readonly resource: string }[] = [];
    let found: NodeOf<'find'> | undefined;
    const walk = (part: Node): void => {
      if (part.op === 'name' && part.name === this.row) return;
      if (part.op === 'find') {
        found = part;
        return;
      }
      if (part.op !== 'field') throw this.standing(node);
      walk(part.of);
      const of = this.types.get(part.of);
      if (of?.is === 'ref') ends.push({ names: names.splice(0), resource: of.resource });
      else if (of?.is !== 'object') throw new Standing(part, `\`${this.textOf(part)}\` has no type, so no column can hold it.`);
      names.push(part.name);
    };
    walk(node);
    const type = as ?? this.kindOf(node);
    if (type === 'any' && use !== 'asked') {
      throw new Standing(node, `\`${this.textOf(node)}\` is no single value of a known type, so no column can hold it.`);
    }
    const last: FilterField = { field: names, type };
    const whole = ends.reduceRight<FilterField>((then, { names: via, resource }) => ({ via, resource, then }), last);
    return found ? this.found(found, whole) : whole;
  }

  /** Whether a field is there, or a row that is looked up: then it has what it was found by. */
  asked(field: NodeOf<'field' | 'find'>): FilterField {
    if (field.op === 'field') return this.field(field, 'asked');
    const [key] = this.keysOf(field);
    // A look-up has one key at least.
    const { field: name, type } = key as FilterKey;
    return this.found(field, { field: [name], type });
  }

  found(node: NodeOf<'find'>, then: FilterField): FilterField {
    return { find: node.resource, by: this.keysOf(node), then };
  }

  keysOf(node: NodeOf<'find'>): FilterKey[] {
    const lookup = this.lookups.get(node);
    return node.keys.map(({ field, value }) => {
      const type = kinds[lookup?.types.get(field)?.is ?? 'dyn'];
      if (!lookup?.isPlain || type === undefined || type === 'any' || type === 'timestamp' || type === 'double')
        throw new Standing(node, `\`${node.resource}\` is found by \`${field}\`, which a database would compare otherwise.`);
      return { field, type, is: this.keyOperand(value, type, lookup.types.get(field)) };
    });
  }

  /** A number stands for the identifier of its digits, and is written as such: a column has those. */
  keyOperand(value: Node, type: FilterKind, wanted: CelType | undefined): FilterOperand {
    const given = this.types.get(value);
    if (wanted?.is === 'int' && given?.is === 'ref') {
      if (this.readsRow(value, new Set())) return this.field(value, undefined, type);
      throw new Standing(value, `\`${this.textOf(value)}\` is the text of an identifier: write \`int(…)\`.`);
    }
    const isText = ['string', 'ref'].includes(this.types.get(value)?.is ?? 'dyn');
    if (wanted?.is !== 'ref' || !wanted.isInteger || isText) return this.operand(value, type);
    if (value.op === 'literal' && typeof value.value === 'bigint') return { value: String(value.value) };
    throw new Standing(value, `\`${this.textOf(value)}\` is not the text of an identifier: write \`string(…)\`.`);
  }

  readsRow(node: Node, bound: ReadonlySet<string>): boolean {
    if (node.op === 'name') return node.name === this.row && !bound.has(node.name);
    const inside = node.op === 'loop' || node.op === 'let' ? new Set(bound).add(node.name) : bound;
    return childNodes(node).some((part) => this.readsRow(part, inside));
  }

  standing(node: Node): Standing {
    return new Standing(node, `\`${this.textOf(node)}\` reckons with the row in a way that a database cannot.`);
  }

  textOf(node: Node): string {
    return this.source.slice(node.start, node.end);
  }
}
