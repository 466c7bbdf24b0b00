import type { Spec } from '../spec.ts';
import { typeOfCall } from './calls.ts';
import {
  bool,
  type CelType,
  celList,
  double,
  dyn,
  int,
  isText,
  mapOf,
  nullType,
  type Overload,
  string,
  typeName,
  unify,
} from './cel-type.ts';
import { type Link, type Lookup, typeOfFind, typeOfLink } from './find.ts';
import {
  type Around,
  bind,
  both,
  keysAround,
  known,
  nearestRemedy,
  nothingKnown,
  pathKey,
  type Typed,
  type TypeWalk,
  typedMemberOf,
} from './member.ts';
import type { ExpressionProblem, Literal, Node, NodeOf } from './node.ts';
import { typeOfBinary, typeOfChoice, typeOfLogic, typeOfMinus } from './operators.ts';
import { type Scope, typeOfVariable } from './scope.ts';

/** What is known of an expression in one scope: the type of each of its nodes, and what is wrong with it. */
export interface Inferred {
  readonly type: CelType;
  readonly types: ReadonlyMap<Node, CelType>;
  /** The ways in which each call can go; more than one where only the values tell. */
  readonly overloads: ReadonlyMap<Node, readonly Overload[]>;
  /** How each `find` goes about it. */
  readonly lookups: ReadonlyMap<Node, Lookup>;
  /** What the address that each `link` gives is made of. */
  readonly links: ReadonlyMap<Node, Link>;
  readonly problems: readonly ExpressionProblem[];
}

/** Finds the types of an expression's nodes and what may be absent where it is read. It never throws. */
export function inferTypes(spec: Spec, scope: Scope, source: string, node: Node): Inferred {
  const walk = new Walk(spec, scope, source);
  const { type } = walk.walk(node, { bound: new Map(), present: nothingKnown });
  const { types, overloads, lookups, links, problems } = walk;
  return { type, types, overloads, lookups, links, problems };
}

class Walk implements TypeWalk {
  readonly spec: Spec;
  readonly scope: Scope;
  readonly source: string;
  readonly types = new Map<Node, CelType>();
  readonly overloads = new Map<Node, readonly Overload[]>();
  readonly lookups = new Map<Node, Lookup>();
  readonly links = new Map<Node, Link>();
  readonly problems: ExpressionProblem[] = [];
  /** Paths whose absence was reported already. */
  readonly reported = new Set<string>();

  constructor(spec: Spec, scope: Scope, source: string) {
    this.spec = spec;
    this.scope = scope;
    this.source = source;
  }

  walk(node: Node, around: Around): Typed {
    const seen = this.look(node, around);
    this.types.set(node, seen.type);
    return seen;
  }

  look(node: Node, around: Around): Typed {
    switch (node.op) {
      case 'literal':
        return known(literalType(node.value));
      case 'name':
        return this.name(node, around);
      case 'field':
        return this.field(node, around, false);
      case 'has':
        return this.has(node, around);
      case 'index':
        return this.index(node, around);
      case 'find':
        return typeOfFind(this, node, around);
      case 'link':
        return typeOfLink(this, node, around);
      case 'call':
        return typeOfCall(this, node, around);
      case 'not': {
        const { type, yes, no } = this.walk(node.of, around);
        this.wantBool(node.of, type);
        return { type: bool, yes: no, no: yes };
      }
      case 'minus':
        return typeOfMinus(this, node, around);
      case 'binary':
        return typeOfBinary(this, node, around);
      case 'and':
      case 'or':
        return typeOfLogic(this, node, around);
      case 'choose':
        return typeOfChoice(this, node, around);
      case 'list':
        return known(celList(typeTogether(this, node.items, around)));
      case 'map':
        for (const [key] of node.entries) this.wantText(key, this.walk(key, around).type);
        return known(
          mapOf(
            typeTogether(
              this,
              node.entries.map(([, value]) => value),
              around,
            ),
          ),
        );
      case 'loop':
        return typeOfLoop(this, node, around);
      case 'let': {
        const value = this.walk(node.value, around).type;
        return this.walk(node.body, bind(around, node.name, value, node.start));
      }
    }
  }

  name(node: NodeOf<'name'>, around: Around): Typed {
    const bound = around.bound.get(node.name);
    const variable = this.scope[node.name];
    if (!bound && !variable) {
      // A name that stands for what was written otherwise is none that anybody could write.
      const names = [...around.bound.keys(), ...Object.keys(this.scope)].filter((name) => !name.startsWith('_'));
      const remedy = nearestRemedy(node.name, names) ?? `In scope here: ${names.map((name) => `\`${name}\``).join(', ')}.`;
      this.report(node, 'scope', `\`${node.name}\` is not in scope here.`, remedy);
      return known(dyn);
    }
    const type = bound?.type ?? (variable ? typeOfVariable(this.spec, variable) : dyn);
    return known(this.narrowed(type, pathKey(node, keysAround(around)), around));
  }

  /** What may be null is not, once it was compared with null. */
  narrowed(type: CelType, key: string | undefined, around: Around): CelType {
    return type.is === 'nullable' && key !== undefined && around.present.has(key) ? type.of : type;
  }

  field(node: NodeOf<'field'>, around: Around, asked: boolean): Typed {
    const of = this.walk(node.of, around);
    const key = pathKey(node, keysAround(around));
    const follows = (of.follows ?? 0) + (of.type.is === 'ref' ? 1 : 0);
    const found = typedMemberOf(node, of.type, follows, {
      text: (part) => this.textOf(part),
      isStored: isStoredRoot(node, around),
    });
    if ('wrong' in found) {
      this.problems.push(found.wrong);
      return known(dyn);
    }
    const unknowable = found.type.is === 'dyn' && found.type.open;
    const there = key !== undefined && around.present.has(key);
    if (found.optional && !asked && !there && !unknowable && !this.reported.has(key ?? this.textOf(node))) {
      this.reported.add(key ?? this.textOf(node));
      const path = this.textOf(node);
      const remedy = `Write \`has(${path}) && …\`, or \`has(${path}) ? ${path} : …\`.`;
      this.report(node, 'absent', `\`${path}\` may be absent here.`, remedy);
    }
    return { ...known(found.type), follows };
  }

  has(node: NodeOf<'has'>, around: Around): Typed {
    const { field } = node;
    this.types.set(field, (field.op === 'find' ? this.look(field, around) : this.field(field, around, true)).type);
    const key = pathKey(field, keysAround(around));
    return { type: bool, yes: key === undefined ? nothingKnown : new Set([key]), no: nothingKnown };
  }

  index(node: NodeOf<'index'>, around: Around): Typed {
    const of = this.walk(node.of, around);
    const index = this.walk(node.index, around).type;
    const follows = of.follows ?? 0;
    if (of.type.is === 'list') {
      if (index.is !== 'int' && index.is !== 'dyn')
        this.report(node.index, 'type', `The place in a list is an integer, not ${typeName(index)}.`);
      return { ...known(of.type.of), follows };
    }
    if (of.type.is === 'map' || of.type.is === 'object') {
      this.wantText(node.index, index);
      return { ...known(of.type.is === 'map' ? of.type.of : dyn), follows };
    }
    if (of.type.is !== 'dyn') this.report(node, 'type', `\`${this.textOf(node.of)}\` is ${typeName(of.type)} and has no places.`);
    return known(dyn);
  }

  wantBool(node: Node, type: CelType): void {
    if (type.is !== 'bool' && type.is !== 'dyn')
      this.report(node, 'type', `\`${this.textOf(node)}\` is ${typeName(type)} where a condition stands.`);
  }

  wantText(node: Node, type: CelType): void {
    if (!isText(type) && type.is !== 'dyn') this.report(node, 'type', `A key is a string, not ${typeName(type)}.`);
  }

  textOf(node: Node): string {
    return this.source.slice(node.start, node.end);
  }

  report(node: Node, kind: ExpressionProblem['kind'], message: string, remedy?: string): void {
    this.problems.push({
      kind,
      message,
      ...(remedy !== undefined && { remedy }),
      offset: node.start,
      length: node.end - node.start,
    });
  }
}

/** Whether a path reads what is stored, where fields that are never kept are not. */
function isStoredRoot(node: Node, around: Around): boolean {
  let root: Node = node;
  while (root.op === 'field' || root.op === 'index') root = root.of;
  return root.op === 'name' && !around.bound.has(root.name) && (root.name === 'resource' || root.name === 'next');
}

function literalType(value: Literal): CelType {
  if (value === null) return nullType;
  if (typeof value === 'bigint') return int;
  if (typeof value === 'number') return double;
  return typeof value === 'string' ? string : bool;
}

/** What a loop over a list, or over the keys of a map, gives. */
function typeOfLoop(walking: TypeWalk, node: NodeOf<'loop'>, around: Around): Typed {
  const over = walking.walk(node.over, around).type;
  const item = over.is === 'list' ? over.of : over.is === 'map' || over.is === 'object' ? string : dyn;
  if (!['list', 'map', 'object', 'dyn'].includes(over.is)) {
    walking.report(node.over, 'type', `\`${node.kind}\` goes over a list, not ${typeName(over)}.`);
  }
  let inside = bind(around, node.name, item, node.start);
  if (node.where) {
    const where = walking.walk(node.where, inside);
    walking.wantBool(node.where, where.type);
    inside = { ...inside, present: both(inside.present, where.yes) };
  }
  const body = walking.walk(node.body, inside).type;
  if (node.kind === 'map') return known(celList(body));
  walking.wantBool(node.body, body);
  return known(node.kind === 'filter' ? celList(item) : bool);
}

/** The type that several have together; any value where they differ. */
function typeTogether(walking: TypeWalk, nodes: readonly Node[], around: Around): CelType {
  const types = nodes.map((node) => walking.walk(node, around).type);
  const type = types.reduce<CelType | undefined>((a, b, index) => (index === 0 ? b : a && unify(a, b)), dyn);
  return type === undefined || type.is === 'null' || type.is === 'nullable' ? dyn : type;
}
