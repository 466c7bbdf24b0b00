import type { Engine } from './engine.ts';
import type { CompiledLimits } from './hooks.ts';

/** The limits of a service that has none. */
export const noLimits: CompiledLimits = { first: undefined, second: undefined, headers: undefined, spend: undefined };

/** Compiles the limits of a document; nothing is limited yet but sizes and pages. */
export function compileLimits(_engine: Engine): CompiledLimits {
  return noLimits;
}
