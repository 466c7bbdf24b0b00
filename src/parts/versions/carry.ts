/** The versions of a document, and how values of one go down to an older one and up again. */

import type { Json, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';
import type { Change, Version } from '../versioning.ts';

/** One change, and the level that it leads up from: level 0 is the oldest shape, one above per change, the last the newest. */
export interface VersionStep {
  readonly level: number;
  readonly version: string;
  readonly change: Change;
}

/** A version of which nobody has said what it changed. */
export interface OpenChanges {
  readonly version: string;
  readonly at: Pointer;
  readonly question?: string;
}

/** The versions of a document in their order, and every change between them in one row. */
export interface History {
  /** Oldest first, as the document lists them. */
  readonly versions: readonly Version[];
  /** The version of a request that asks for none: the one that says so, else the last. */
  readonly current: string;
  readonly steps: readonly VersionStep[];
  /** The level of the newest shape, which is the stored one. */
  readonly newest: number;
  levelOf(version: string): number;
  /** The versions above one whose changes are open: without them its shape is not known. */
  openAbove(version: string): readonly OpenChanges[];
}

/** Reads the history of a document; nothing where it states no versions. */
export function historyOf({ versioning }: Spec): History | undefined {
  const versions = entriesOf(versioning.versions).map(([, version]) => version);
  const last = versions.at(-1);
  if (!last) return undefined;
  const { changes } = versioning;
  const steps: VersionStep[] = [];
  const levels = new Map<string, number>();
  const open: OpenChanges[] = [];
  for (const { name } of versions) {
    const list = isStated(changes) ? changes.value[name] : changes;
    if (list === undefined || list.standing === 'open')
      open.push({
        version: name,
        at: isStated(changes) && list ? list.at : below(changes.at, name),
        ...(list && 'question' in list && list.question !== undefined && { question: list.question }),
      });
    else if (isStated(changes))
      for (const change of statedValue(changes.value[name] ?? { standing: 'none', at: '' }) ?? [])
        steps.push({ level: steps.length, version: name, change });
    levels.set(name, steps.length);
  }
  const order = new Map(versions.map(({ name }, index) => [name, index]));
  return {
    versions,
    current: (versions.find(({ current }) => current) ?? last).name,
    steps,
    newest: steps.length,
    levelOf: (version) => levels.get(version) ?? steps.length,
    openAbove: (version) =>
      open.filter(({ version: other }) => (order.get(other) as number) > (order.get(version) ?? versions.length)),
  };
}

/** Where a place of a newest value lies in an older one. */
export interface OlderPlace {
  readonly path: readonly string[];
  /** Whether the value there is another one than the newest. */
  readonly isMapped: boolean;
}

/** How values of one shape go from the newest version down to an older one and up again. Nothing that is handed over is changed. */
export interface Carry {
  /** @throws {CannotCarry} where a change has no older value for this one. */
  down(value: unknown): unknown;
  /**
   * `before` is the newest value that this one is to replace: what the older version cannot see is taken from it, and what
   * reads the same as before stays exactly as it was. Without one, added fields have their defaults.
   * @throws {CannotCarry} where a change has no newer value for this one.
   */
  up(value: unknown, before?: unknown): unknown;
  place(path: readonly string[]): OlderPlace;
}

/** A field of an older version, and what it is in the newest. */
export interface CarriedField {
  /** Its name in the older version; nothing where it was added since. */
  readonly older: string | undefined;
  /** Its name in the newest; nothing where it was removed since. */
  readonly newer: string | undefined;
  /** How its values go; nothing where they stay as they are. */
  readonly carry: Carry | undefined;
  /** Whether a change maps or renames its values. */
  readonly isMapped: boolean;
  /** Whether its values have the same order in both. */
  readonly isOrdered: boolean;
}

/** How the rows of one resource go down and up. */
export interface ResourceCarry extends Carry {
  readonly lines: readonly CarriedField[];
  older(name: string): CarriedField | undefined;
  newer(name: string): CarriedField | undefined;
  /** Newest fields that the older version does not have. */
  readonly unseen: readonly string[];
  /** A merge patch of the older version (RFC 7396) put onto a newest row; what it leaves out stays exactly as it is. */
  merge(before: Readonly<Record<string, unknown>>, patch: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** A shape with older names of its values: those that a change of allowed values names. */
export function withOlderValues(shape: Shape, values: Readonly<Record<string, Json>>): Shape {
  const names = new Map<Json, Json>();
  for (const [old, value] of Object.entries(values)) if (!names.has(value)) names.set(value, olderValue(old, value) as Json);
  const older = (value: Json): Json => names.get(value) ?? value;
  const out: Record<string, Json> = { ...shape };
  if (Array.isArray(shape.enum)) out.enum = [...new Set(shape.enum.map(older))];
  if (shape.const !== undefined) out.const = older(shape.const);
  if (isPlainMap(shape.items)) out.items = withOlderValues(shape.items, values);
  return out;
}

/** The name of an older value is a key, so a text; it is of the newer value's type. */
export function olderValue(name: string, value: unknown): unknown {
  if (typeof value === 'number') return Number.isNaN(Number(name)) ? name : Number(name);
  return typeof value === 'boolean' && (name === 'true' || name === 'false') ? name === 'true' : name;
}

/** A value that has members: no list, no bytes. */
export function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** JSON Merge Patch (RFC 7396 section 2). */
export function mergeJson(target: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const result: Record<string, unknown> = { ...(isMembers(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else put(result, name, mergeJson(result[name], value));
  }
  return result;
}

/** Sets a member whatever its name is: `__proto__` is only a name. */
export function put(members: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
  else members[name] = value;
}
