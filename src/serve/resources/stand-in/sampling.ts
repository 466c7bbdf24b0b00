import { entryOf, statedValue } from '../../../parts/fact.ts';
import { type Chance, chanceOf } from '../../../parts/samples/sampler.ts';
import { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import { Likeness } from './likeness.ts';

/** What fills in, for a stand-in, what nothing but an open fact leaves undetermined: from shapes, the same for the same seed. */
export class Sampling {
  readonly samples: Samples;
  /** Those of answers, in which a reference may be shown whole. */
  readonly shown: Samples;
  readonly seed: string;
  /** What new rows are like. */
  readonly likeness: Likeness;
  readonly #identifiers = new Map<string, ReturnType<Samples['identifiers']>>();

  readonly #spec: Spec;

  constructor(spec: Spec, seed: string) {
    this.#spec = spec;
    this.samples = new Samples(spec, { size: 'ordinary', takesAny: true });
    this.shown = new Samples(spec, { size: 'ordinary', showsWhole: true, takesAny: true });
    this.seed = seed;
    this.likeness = new Likeness(spec, this.samples);
  }

  /** The field by which rows of a resource are told apart. */
  identifierOf(resource: string): string | undefined {
    const stated = entryOf(this.#spec.resources.all, resource);
    return stated && statedValue(stated.identifier)?.field;
  }

  /** The chance of one place. */
  chance(place: string): Chance {
    return chanceOf(`${this.seed}\n${place}`);
  }

  /** An identifier for a resource that does not say how they are made, the same for the same place and number. */
  identifier(resource: string, place: string, sequence: number): string | number | undefined {
    const make = this.#identifiers.get(resource) ?? this.samples.identifiers(resource, this.likeness.exampleOf(resource));
    this.#identifiers.set(resource, make);
    return make(this.chance(place), sequence);
  }
}
