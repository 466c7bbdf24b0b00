import type { JsonMap } from '../../document/document.ts';
import { pathOf } from '../../document/pointer.ts';
import { entriesOf } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import { constantsOf, fitsBranch, type Level, levelOf, reaching, resourcesIn } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Fields, Value } from './exchange.ts';

/** Takes out of a value, in place, what its reader must not see. */
export type Prune = (value: Value) => void;

/** Which fields a reader sees: those visible to its user, none that is write-only, and secrets only in the answer that makes them. */
export interface FieldReader {
  readonly user: string | undefined;
  readonly reveals: boolean;
  /** Fields that it is not shown besides, whatever the row. */
  readonly leftOut?: ReadonlySet<Field>;
}

/** Compiles what is taken out of a value of a shape; nothing where all of it may be shown as it is. */
export function compilePrune(spec: Spec, shape: Shape, reader: FieldReader): Prune | undefined {
  return compileRemoval(spec, shape, `${reader.reveals} ${reader.leftOut !== undefined} ${reader.user ?? ''}`, (field) =>
    isHidden(field, reader),
  );
}

/** Compiles what is taken out of a value before it is kept: the fields that are never stored. */
export function compileForgetting(spec: Spec, shape: Shape): Prune | undefined {
  return compileRemoval(spec, shape, 'stored', (field) => !field.stored);
}

/** Compiles what is taken out of a value that is kept for readers of every user: what none of them is ever shown again. */
export function compileUnseen(spec: Spec, shape: Shape): Prune | undefined {
  return compileRemoval(spec, shape, 'unseen', isNeverShown);
}

function isNeverShown({ writeOnly, reveal, visible, stored, children }: Field): boolean {
  return writeOnly || reveal === 'once' || (!stored && !children) || visible?.length === 0;
}

/** What is removed for one reader, named, is found once for all the shapes of a document. */
function compileRemoval(spec: Spec, shape: Shape, name: string, removes: (field: Field) => boolean): Prune | undefined {
  const pruners = prunersBySpec.get(spec) ?? new Map<string, Pruner>();
  prunersBySpec.set(spec, pruners);
  const pruner = pruners.get(name) ?? new Pruner(spec, removes);
  pruners.set(name, pruner);
  return pruner.hides(shape) ? pruner.ofShape(shape) : undefined;
}

export function isHidden(field: Field, reader: FieldReader): boolean {
  if (field.writeOnly || (field.reveal === 'once' && !reader.reveals) || reader.leftOut?.has(field)) return true;
  return field.visible !== undefined && (reader.user === undefined || !field.visible.includes(reader.user));
}

/** Whether a JSON Pointer into a value of a shape leads to what a reader does not see. */
export function isHiddenAt(spec: Spec, shape: Shape, pointer: string, reader: FieldReader): boolean {
  return leadsToHidden(spec, shape, pathOf(pointer), reader);
}

function leadsToHidden(spec: Spec, shape: JsonMap, [key, ...rest]: readonly string[], reader: FieldReader): boolean {
  if (key === undefined) return false;
  const level = levelOf(spec, shape);
  const member = level.members.find(({ name }) => name === key);
  if (member?.field && isHidden(member.field, reader)) return true;
  const inner = [member?.shape, level.items, level.rest].filter((one) => one !== undefined);
  return (
    inner.some((one) => leadsToHidden(spec, one, rest, reader)) ||
    level.branches.some((one) => leadsToHidden(spec, one, [key, ...rest], reader))
  );
}

class Pruner {
  readonly #spec: Spec;
  readonly #removes: (field: Field) => boolean;
  readonly #byResource = new Map<string, Prune>();
  /** The resources in which, at any depth, something is hidden. */
  readonly #hiding: ReadonlySet<string>;

  constructor(spec: Spec, removes: (field: Field) => boolean) {
    this.#spec = spec;
    this.#removes = removes;
    this.#hiding = reaching(spec, (resource) => entriesOf(resource.fields).some(([, field]) => removes(field)));
  }

  /** Whether anything in a shape, at any depth, is hidden. */
  hides(shape: JsonMap): boolean {
    return this.#hiding.size > 0 && [...resourcesIn(shape)].some((name) => this.#hiding.has(name));
  }

  ofShape(shape: JsonMap): Prune {
    const { resource } = shape;
    return typeof resource === 'string' ? this.#ofResource(resource) : this.#ofLevel(levelOf(this.#spec, shape));
  }

  #ofLevel(level: Level): Prune {
    const hidden = level.members.flatMap(({ name, field }) => (field && this.#removes(field) ? [name] : []));
    const members = level.members.flatMap(({ name, shape }) => (this.hides(shape) ? [[name, this.ofShape(shape)] as const] : []));
    const items = level.items && this.ofShape(level.items);
    const rest = level.rest && this.ofShape(level.rest);
    const branches = level.branches.map((branch) => this.#ofBranch(branch));
    const named = new Set(level.members.map(({ name }) => name));
    return (value) => {
      if (Array.isArray(value)) {
        if (items) for (const item of value) items(item);
      } else if (isFields(value)) {
        for (const name of hidden) delete value[name];
        for (const [name, prune] of members) if (Object.hasOwn(value, name)) prune(value[name]);
        if (rest) for (const [name, entry] of Object.entries(value)) if (!named.has(name)) rest(entry);
      }
      for (const prune of branches) prune(value);
    };
  }

  /** A branch of a union prunes what its constants do not rule out. */
  #ofBranch(branch: JsonMap): Prune {
    const prune = this.ofShape(branch);
    const constants = constantsOf(this.#spec, branch);
    return (value) => {
      if (fitsBranch(value, constants)) prune(value);
    };
  }

  /** Compiled once a resource, when the first value of it comes, so that recursion ends. */
  #ofResource(name: string): Prune {
    const known = this.#byResource.get(name);
    if (known) return known;
    let compiled: Prune | undefined;
    const prune: Prune = (value) => {
      compiled ??= this.#compile(name);
      compiled(value);
    };
    this.#byResource.set(name, prune);
    return prune;
  }

  #compile(name: string): Prune {
    return this.#hiding.has(name) ? this.#ofLevel(levelOf(this.#spec, { resource: name })) : () => {};
  }
}

const prunersBySpec = new WeakMap<Spec, Map<string, Pruner>>();

function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
