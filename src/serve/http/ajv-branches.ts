import type { ErrorObject, ValidateFunction } from 'ajv';
import { below } from '../../document/pointer.ts';
import { isUnion } from '../../parts/shapes/keywords.ts';
import { isSchema } from './schema.ts';

/** Where the validators of inner schemas come from: `path` leads from a schema object to one in it, such as `items` or the second of some alternatives. */
export interface Branches {
  branch(parent: object, path: string): ValidateFunction | undefined;
}

/** An error with what ajv's `verbose` adds. */
export type WireError = ErrorObject;

/**
 * Reduces the errors of a failed union to those of the branch that was meant: the one whose constants hold, else the one of the
 * right type with the fewest errors. Ajv leaves all branches' errors in front of the union's own; each branch is validated again
 * alone, which gives both its errors and how many to take away.
 */
export function reduceErrors(errors: readonly WireError[], branches: Branches, depth = 0): WireError[] {
  const reduced: WireError[] = [];
  for (let i = errors.length - 1; i >= 0; i--) {
    const error = errors[i];
    if (error === undefined || noise.has(error.keyword)) continue;
    const tried = depth < depthMost ? tryBranches(error, branches) : undefined;
    if (tried === undefined) {
      reduced.push(error);
      continue;
    }
    i -= tried.reduce((sum, { length }) => sum + length, 0);
    reduced.push(...choose(error, tried, branches, depth).toReversed());
  }
  return reduced.reverse();
}

/** Unions within each other that are looked into. */
const depthMost = 4;

/** Errors that only say that others follow from them. */
const noise = new Set(['if', 'propertyNames']);

/** The errors of each branch alone, in the order ajv met them; undefined where the error is about no branches. */
function tryBranches(error: WireError, branches: Branches): WireError[][] | undefined {
  const { keyword, parentSchema, schema, data } = error;
  if (parentSchema === undefined) return undefined;
  const errorsOf = (path: string, value: unknown): WireError[] => {
    const validate = branches.branch(parentSchema, path);
    return validate === undefined || validate(value) ? [] : [...(validate.errors ?? [])];
  };
  if (!isUnion(keyword) || !Array.isArray(schema)) return undefined;
  // Once two branches pass, ajv looks at no more.
  const passing: unknown = error.params.passingSchemas;
  const met = Array.isArray(passing) ? Math.max(...passing.map(Number)) + 1 : schema.length;
  return schema.slice(0, met).map((_, i) => errorsOf(`${keyword}/${i}`, data));
}

function choose(error: WireError, tried: readonly WireError[][], branches: Branches, depth: number): WireError[] {
  if (tried.some((errors) => errors.length === 0)) return [error];
  const candidates = tried.filter((errors) => !errors.some(isWrongType));
  if (candidates.length === 0) return [error];
  const constant = sharedConstant(candidates);
  if (constant !== undefined && candidates.length > 1) return [inside(error, constant)];
  const ranked = candidates.toSorted((a, b) => constantsOf(a).length - constantsOf(b).length || a.length - b.length);
  return reduceErrors(ranked[0] ?? [], branches, depth + 1).map((one) => inside(error, one));
}

function isWrongType({ keyword, instancePath }: WireError): boolean {
  return instancePath === '' && (keyword === 'type' || keyword === 'exactType');
}

/** A constant that does not hold: where, and what was wanted there. */
interface Mismatch {
  readonly place: string;
  readonly wanted: readonly unknown[];
  readonly error: WireError;
}

/** The constants that a branch wants of the value itself or of its members, and does not find. */
function constantsOf(errors: readonly WireError[]): Mismatch[] {
  return errors.flatMap((error) => {
    const { keyword, instancePath, schema, params, parentSchema } = error;
    if (/^(?:const|enum|exactConst|exactEnum)$/.test(keyword) && instancePath.lastIndexOf('/') <= 0) {
      return [{ place: instancePath, wanted: Array.isArray(schema) ? schema : [schema], error }];
    }
    if (keyword !== 'required' || instancePath !== '') return [];
    const name = String(params.missingProperty);
    const member: unknown = parentSchema?.properties?.[name];
    const wanted = isSchema(member) ? (member.const ?? member.exactConst) : undefined;
    const place = below('', name);
    return wanted === undefined
      ? []
      : [{ place, wanted: [wanted], error: { ...error, instancePath: place, params: {}, data: undefined } }];
  });
}

/** Where every branch wants another constant at one place, the error that names them all. */
function sharedConstant(candidates: readonly WireError[][]): WireError | undefined {
  const [first, ...others] = candidates.map(constantsOf);
  const shared = first?.find(({ place }) => others.every((mismatches) => mismatches.some((one) => one.place === place)));
  if (shared === undefined) return undefined;
  const same = [...(first ?? []), ...others.flat()].filter(({ place }) => place === shared.place);
  return { ...shared.error, keyword: 'enum', schema: [...new Set(same.flatMap(({ wanted }) => wanted))] };
}

function inside(outer: WireError, inner: WireError): WireError {
  return { ...inner, instancePath: outer.instancePath + inner.instancePath };
}
