import type { CelType } from './cel-type.ts';
import { Duration, type Value } from './cel-value.ts';
import type { Frame } from './frame.ts';

/** What an argument of a function has to be. `texts` is a list of strings. */
export type ArgumentType = 'bool' | 'int' | 'double' | 'string' | 'timestamp' | 'duration' | 'list' | 'texts' | 'map' | 'any';

/** One way in which a function can be called. */
export interface Overload {
  readonly name: string;
  /** What it is called on, where it is written with a dot. */
  readonly on?: ArgumentType;
  readonly args: readonly ArgumentType[];
  readonly result: CelType;
  /** The values come with what it is called on first. @throws {Failed} */
  readonly run: (values: readonly Value[], frame: Frame) => Value;
}

/** What a function takes, as one list: what it is called on comes first. */
export function slotsOf(overload: Overload): readonly ArgumentType[] {
  return overload.on ? [overload.on, ...overload.args] : overload.args;
}

/** Whether a value of this type can stand in the slot; what has no type yet can stand in any. */
export function slotTakes(slot: ArgumentType, type: CelType): boolean {
  if (type.is === 'dyn' || slot === 'any') return true;
  if (slot === 'string') return type.is === 'string' || type.is === 'ref';
  if (slot === 'map') return type.is === 'map' || type.is === 'object';
  if (slot === 'texts') return type.is === 'list' && slotTakes('string', type.of);
  return type.is === slot;
}

/** Whether this value can stand in the slot. */
export function slotHolds(slot: ArgumentType, value: Value): boolean {
  switch (slot) {
    case 'any':
      return true;
    case 'bool':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'string':
      return typeof value === 'string';
    case 'timestamp':
      return value instanceof Date;
    case 'duration':
      return value instanceof Duration;
    case 'list':
      return Array.isArray(value);
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'map':
      return value instanceof Map;
  }
}
