import { isStated, statedValue } from '../../parts/fact.ts';
import { type SchemaUse, toJsonSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Selection } from '../../parts/versioning.ts';
import { Carries } from '../../parts/versions/carries.ts';
import { type History, historyOf } from '../../parts/versions/carry.ts';
import { specInVersion } from '../../parts/versions/spec-in-version.ts';
import type { Validator } from '../http/ajv.ts';
import type { Validate } from '../http/validation.ts';
import type { Value } from './exchange.ts';

/** A version whose shapes are not the stored ones. */
export interface OlderVersion {
  /** Its place among the versions, the oldest 0. */
  readonly index: number;
  /** The document as it was. */
  readonly spec: Spec;
  /** What goes between its shapes and the stored ones. */
  readonly carries: Carries;
  /** A validator of one of its shapes, compiled on its first use. */
  validate(shape: Shape, use: SchemaUse): Validate;
}

/** The versions that a document lists. */
export interface Versions {
  readonly history: History;
  readonly selection: Selection | undefined;
  /** Nothing where a version has the stored shapes. */
  older(version: string): OlderVersion | undefined;
  /**
   * How values of a shape of this document go down to a version: events, whose subscribers are pinned. Nothing where they
   * are the same there; the version is of the list.
   * @throws {CannotCarry} where a value has no counterpart, out of the function that is given.
   */
  down(version: string, shape: Shape): ((value: Value) => Value) | undefined;
}

/** Reads the versions of a document; nothing where it states none. What a version needs is compiled when it is first asked for. */
export function compileVersionList(spec: Spec, validator: Validator, now: () => number): Versions | undefined {
  const history = historyOf(spec);
  if (!history) return undefined;
  const known = new Map<string, OlderVersion>();
  const older = (version: string): OlderVersion | undefined => {
    const index = history.versions.findIndex(({ name }) => name === version);
    const isNewest = history.levelOf(version) === history.newest && history.openAbove(version).length === 0;
    if (index < 0 || isNewest) return undefined;
    const found = known.get(version);
    if (found) return found;
    const made = compileOlder(spec, history, version, index, validator, now);
    known.set(version, made);
    return made;
  };
  return {
    history,
    selection: isStated(spec.versioning.select) ? statedValue(spec.versioning.select) : undefined,
    older,
    down(version, shape) {
      const carry = older(version)?.carries.expanding.shape(shape);
      return carry && ((value) => carry.down(value));
    },
  };
}

function compileOlder(
  spec: Spec,
  history: History,
  version: string,
  index: number,
  validator: Validator,
  now: () => number,
): OlderVersion {
  const carries = new Carries(spec, history, version, now);
  const older = specInVersion(spec, history, carries);
  return {
    index,
    spec: older,
    carries,
    validate(shape, use) {
      let compiled: Validate | undefined;
      return (value) => {
        compiled ??= validator.compile(toJsonSchema(older, shape, use));
        return compiled(value);
      };
    },
  };
}
