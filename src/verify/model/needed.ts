import * as fc from 'fast-check';
import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { paramsShape } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import { NoValue } from '../values/scalars.ts';
import { arbitraryValuesOf, type Draft, Reference } from '../values/values.ts';
import { isByRule } from './promises.ts';

/** Values of parameters by where they are sent. */
export interface NeededParameters {
  readonly query: Readonly<Record<string, Json>>;
  readonly header: Readonly<Record<string, Json>>;
}

/** A plain value for each query parameter and header that has to be sent, the first example where there is one; none where a row would have to be made. */
export function neededParameters(spec: Spec, endpoint: Endpoint): NeededParameters {
  const { properties } = paramsShape(spec, endpoint);
  const needed: { readonly query: Record<string, Json>; readonly header: Record<string, Json> } = { query: {}, header: {} };
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    const shape = isMap(properties) ? properties[name] : undefined;
    if (!parameter.required || parameter.default || !isMap(shape)) continue;
    if (parameter.in !== 'query' && parameter.in !== 'header') continue;
    const value = exampleOf(shape.examples) ?? plainValue(spec, shape);
    if (value !== undefined) needed[parameter.in][name] = value;
  }
  return needed;
}

function exampleOf(examples: Json | undefined): Json | undefined {
  return Array.isArray(examples) ? examples[0] : undefined;
}

/** A plain value of a shape, the same each time; nothing where none is made, or rows would have to be made for it. */
export function plainValue(spec: Spec, shape: JsonMap): Json | undefined {
  try {
    const [value] = fc.sample(arbitraryValuesOf(spec, shape, 'plain'), { seed: 1, numRuns: 1 });
    // The cast holds: a draft without references is JSON.
    return value === undefined || holdsReference(value) ? undefined : (value as Json);
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

function holdsReference(draft: Draft): boolean {
  if (draft instanceof Reference) return true;
  return typeof draft === 'object' && draft !== null && Object.values(draft).some((inner: Draft) => holdsReference(inner));
}

/** The resource that another operation is about under the path up to a parameter, where nobody stated what this one does. */
export function resourceByPath(endpoints: readonly Endpoint[], endpoint: Endpoint, parameter: string): string | undefined {
  if (isByRule(endpoint) || parameter === identifierParameter(endpoint)) return undefined;
  const before = endpoint.path.slice(0, endpoint.path.indexOf(`{${parameter}}`));
  const wanted = shapeOf(`${before}{}`);
  const about = endpoints.find((one) => identifierParameter(one) !== undefined && shapeOf(one.path) === wanted);
  return about && resourceOfEffect(statedValue(about.does));
}

/** A path whatever its parameters are called. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, '{}');
}
