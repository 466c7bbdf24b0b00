import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import { timeFormat } from '../../../kinds/formats/all.ts';
import { readTemplate } from '../../../kinds/generators/template.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { generatedOf } from '../../../parts/inner-values.ts';
import { isEverShown, isWritable, sentShape, takesChildren } from '../../../parts/payload.ts';
import type { Field, Resource } from '../../../parts/resources.ts';
import { chanceOf, type Ground, nothing } from '../../../parts/samples/sampler.ts';
import { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { type Union, unionOf } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';
import { type Machine, machineOn } from '../../../parts/states.ts';
import type { SchemaView } from '../../json-schema/write/shape-schema.ts';
import { titleOf } from '../../spec/words.ts';

/** What an example is of: what a caller chooses of a row is shown by the row. */
type ExampleView = Exclude<SchemaView, 'chosen'>;

/** What an example is of. */
interface Subject {
  readonly view: ExampleView;
  /** The name of the field or parameter, which texts without a format are like. */
  readonly name: string;
  /** How deep it stands inside other resources. */
  readonly depth: number;
  /** What was just done with it; nothing but its making, where that is not said. */
  readonly after?: ExampleAct;
}

/** What was done with a resource: the words by which `set` speaks of it, and the state that it led to. */
export interface ExampleAct {
  readonly words: readonly string[];
  readonly state?: string;
}

const depthMost = 3;

/** Examples of shapes: the same for the same document, each valid, and none where that is beyond these means. */
export class Examples {
  readonly #spec: Spec;
  readonly #samples: Samples;
  readonly #identifiers = new Map<string, Json | undefined>();

  constructor(spec: Spec) {
    this.#spec = spec;
    this.#samples = new Samples(spec);
  }

  ofShape(shape: Shape, view: ExampleView, name = ''): Json | undefined {
    return this.#value(shape, { view, name, depth: 0 });
  }

  /** A whole resource, as it is after something was done with it. */
  ofResource(name: string, view: ExampleView, after?: ExampleAct): Json | undefined {
    return this.#whole(name, { view, name, depth: 0, ...(after && { after }) });
  }

  /** The same identifier wherever a resource is spoken of. */
  identifier(name: string): Json | undefined {
    if (!this.#identifiers.has(name)) this.#identifiers.set(name, this.#identifierOf(name));
    return this.#identifiers.get(name);
  }

  #identifierOf(name: string): Json | undefined {
    const resource = entryOf(this.#spec.resources.all, name);
    const identifier = resource && statedValue(resource.identifier);
    const field = resource && identifier && entryOf(resource.fields, identifier.field);
    const shape: Shape = (field && statedValue(field.shape)) ?? { type: 'string' };
    const ref = shape.ref;
    if (typeof ref === 'string') return ref === name ? undefined : this.identifier(ref);
    const { generate } = identifier ?? {};
    if (generate === 'integer') return 1;
    const read = generate === undefined || generate === 'client' ? undefined : readTemplate(generate);
    const made =
      read && 'template' in read ? read.template.make(chanceOf(name)) : this.#samples.identifiers(name)(chanceOf(name), 1);
    return made !== undefined && this.#samples.of(shape, 'id').fits(made) ? made : undefined;
  }

  #value(shape: Shape, subject: Subject): Json | undefined {
    if (subject.depth > depthMost) return undefined;
    if (typeof shape.resource === 'string' && Object.keys(shape).length === 1)
      return this.#whole(shape.resource, { ...subject, depth: subject.depth + 1 });
    if (typeof shape.ref === 'string') return this.#fitting(shape, this.identifier(shape.ref));
    if (!/"(?:resource|ref)":/.test(JSON.stringify(shape))) return this.#sample(shape, subject.name);
    const union = unionOf(shape);
    if (union) return this.#branch(union, shape, subject);
    if (Object.keys(shape).some((word) => !composing.has(word))) return undefined;
    if (shape.type === 'array' && isMap(shape.items)) return this.#list(shape.items, shape, subject);
    return isMap(shape.properties) ? this.#members(shape, subject) : undefined;
  }

  /** As many items as there have to be, one at least. */
  #list(items: JsonMap, { minItems, maxItems }: Shape, subject: Subject): Json | undefined {
    const least = typeof minItems === 'number' ? minItems : 0;
    if (maxItems === 0) return [];
    const item = least > itemsMost ? undefined : this.#value(items, subject);
    if (item === undefined) return least === 0 ? [] : undefined;
    return Array.from({ length: Math.max(least, 1) }, () => item);
  }

  /** The first branch of a union, where nothing else is asked for and no other branch takes what is of it. */
  #branch({ keyword, branches, isExclusive }: Union<Json>, shape: Shape, subject: Subject): Json | undefined {
    if (isExclusive && !areApart(branches, this.#spec)) return undefined;
    if (Object.keys(shape).some((key) => ![keyword, 'description', 'title', 'discriminator'].includes(key))) return undefined;
    for (const branch of branches) {
      const value = isMap(branch) ? this.#value(branch, subject) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #members(shape: Shape, subject: Subject): Json | undefined {
    const out = newMap();
    const required: readonly Json[] = Array.isArray(shape.required) ? shape.required : [];
    for (const [name, inner] of Object.entries(isMap(shape.properties) ? shape.properties : {})) {
      const value = isMap(inner) ? this.#value(inner, { ...subject, name }) : undefined;
      if (value !== undefined) out[name] = value;
    }
    return required.every((name) => typeof name === 'string' && Object.hasOwn(out, name)) ? out : undefined;
  }

  #whole(name: string, subject: Subject): Json | undefined {
    const resource = entryOf(this.#spec.resources.all, name);
    const shape = resource?.shape && statedValue(resource.shape);
    if (shape) return this.#value(shape, subject);
    if (!resource || !isStated(resource.fields) || subject.depth > depthMost) return undefined;
    const out = newMap();
    for (const [field, entry] of entriesOf(resource.fields)) {
      const isSent = isWritable(this.#spec, resource, entry) || (subject.view !== 'answer' && takesChildren(entry, subject.view));
      const isThere = subject.view === 'answer' ? isEverShown(entry) : isSent;
      const isName = statedValue(resource.identifier)?.field === field;
      if (!isThere || (isName && subject.view === 'update') || isLater(entry, subject)) continue;
      const value = this.#field(resource, entry, subject);
      if (value !== undefined) out[field] = value;
      else if (statedValue(entry.required) === true && subject.view !== 'update') return undefined;
      if (subject.view === 'update' && Object.keys(out).length === 2) break;
    }
    return out;
  }

  #field(resource: Resource, field: Field, subject: Subject): Json | undefined {
    const machine = machineOn(this.#spec.states, resource.name, field.name);
    if (machine) return stateAfter(machine, subject.after?.state) ?? machine.initial[0]?.state;
    const identifier = statedValue(resource.identifier);
    if (identifier?.field === field.name) return this.identifier(resource.name);
    const shape = field.children && subject.view !== 'answer' ? sentShape(this.#spec, field) : statedValue(field.shape);
    if (!shape) return undefined;
    if (field.default && this.#samples.of(shape, field.name).fits(field.default.value)) return field.default.value;
    const made = literalOf(field.set.create?.source.trim() ?? '');
    if (made !== undefined && this.#samples.of(shape, field.name).fits(made)) return made;
    const read = generatedOf(resource, field);
    if (read && !('wrong' in read) && read.fields.length === 0)
      return this.#fitting(shape, read.make(chanceOf(`${resource.name} ${field.name}`)));
    return this.#value(shape, { ...subject, name: field.name, view: subject.view === 'update' ? 'create' : subject.view });
  }

  #fitting(shape: Shape, value: Json | undefined): Json | undefined {
    return value !== undefined && this.#samples.of(shape).fits(value) ? value : undefined;
  }

  #sample(shape: Shape, name: string): Json | undefined {
    const sampler = this.#samples.of(shape, name);
    // A text of which nothing is known but how long it is reads best as the name of its field.
    const title = titleOf(name);
    const isFree = shape.type === 'string' && Object.keys(shape).every((word) => freeWords.has(word)) && !telling.test(name);
    if (isFree && title !== '' && sampler.fits(title)) return title;
    // All moments of an example are one.
    const value = sampler.make(ground, shape.format === timeFormat ? '/moment' : `/${name}`);
    // What fits is JSON: samplers make nothing else but bytes of text and numbers.
    return value !== nothing && sampler.fits(value) ? (value as Json) : undefined;
  }
}

/** The words of a shape around resources that examples are made by; any other may ask for more. */
const composing: ReadonlySet<string> = new Set(
  'type items minItems maxItems properties required additionalProperties description title example examples default'.split(' '),
);
const itemsMost = 8;

const freeWords: ReadonlySet<string> = new Set(['type', 'minLength', 'maxLength', 'description', 'title']);
const telling = /mail|ur[il]$|href|link|phone|country|currency|_at$|id$/i;

/** What a literal of CEL stands for. */
function literalOf(source: string): Json | undefined {
  if (/^-?\d{1,15}$/.test(source)) return Number(source);
  if (source === 'true' || source === 'false') return source === 'true';
  return /^'([^'\\]*)'$|^"([^"\\]*)"$/
    .exec(source)
    ?.slice(1)
    .find((text) => text !== undefined);
}

/** Whether a field is set by nothing that has been done yet. */
function isLater({ readOnly, required, set }: Field, { after, view }: Subject): boolean {
  const setters = Object.keys(set);
  if (view !== 'answer' || !readOnly || statedValue(required) === true || setters.length === 0) return false;
  return !['create', 'write', ...(after?.words ?? [])].some((word) => setters.includes(word));
}

const ground: Ground = { seed: 'example', identifierOf: () => undefined, sampled: () => {} };

/** Whether branches exclude each other for sure: by their types, or as resources by a constant of theirs. */
function areApart(branches: readonly Json[], spec: Spec): boolean {
  const types = branches.map((branch) => (isMap(branch) ? (branch.resource === undefined ? branch.type : 'object') : undefined));
  if (types.every((type) => typeof type === 'string') && new Set(types).size === types.length) return true;
  const constants = branches.map((branch) => constantsOf(branch, spec));
  return [...(constants[0]?.keys() ?? [])].some((name) => {
    const values = constants.map((own) => own.get(name));
    return values.every((value) => value !== undefined) && new Set(values).size === values.length;
  });
}

/** The constants that every row of a resource has, by field, as text. */
function constantsOf(branch: Json, { resources }: Spec): ReadonlyMap<string, string> {
  const resource = isMap(branch) && typeof branch.resource === 'string' ? entryOf(resources.all, branch.resource) : undefined;
  const fields = resource ? entriesOf(resource.fields) : [];
  return new Map(
    fields.flatMap(([name, field]) => {
      const constant = statedValue(field.required) === true ? statedValue(field.shape)?.const : undefined;
      return constant === undefined ? [] : [[name, JSON.stringify(constant)] as const];
    }),
  );
}

/** The state that an act leads to, where it is one of this machine. */
function stateAfter({ states }: Machine, state: string | undefined): string | undefined {
  return state === undefined || statedValue(states)?.includes(state) === false ? undefined : state;
}
