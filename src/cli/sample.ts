import type { Json, JsonMap } from '../document/document.ts';
import { nothing } from '../parts/samples/nothing.ts';
import type { Ground } from '../parts/samples/sampler.ts';
import { Samples } from '../parts/samples/samples.ts';
import type { Spec } from '../parts/spec.ts';

/**
 * A small value of a shape as a caller may send it: required fields only, each as short as its bounds let it be. Undefined where
 * none is found by simple means, and for the identifier of a row, which has to exist first.
 */
export function sampleOf(spec: Spec, shape: JsonMap, name = 'text'): Json | undefined {
  const samples = samplesBySpec.get(spec) ?? new Samples(spec, { size: 'smallest', isSent: true });
  samplesBySpec.set(spec, samples);
  const made = samples.of(shape, name).make(ground, '');
  // What samples make is JSON, or nothing.
  return made === nothing ? undefined : (made as Json);
}

const samplesBySpec = new WeakMap<Spec, Samples>();

const ground: Ground = { seed: '', identifierOf: () => undefined, sampled: () => {} };
