import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Field } from '../../../parts/resources.ts';
import { describedWords } from '../../../parts/samples/described-words.ts';
import { chanceOf, type Ground, nothing } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { admitsNull, withoutNull } from '../../../parts/samples/whole-shape.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { copy } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import { emptyOf, isCountName, isOfItsEnd, isStateName, stateOfNew, wordsBesideNull } from './empty-values.ts';
import { isErrorName } from './open-answers.ts';
import { isOwnMark } from './own-marks.ts';
import { rowShapeIn, Sendable } from './sendable.ts';
import { shownIdentifier } from './shown-identifiers.ts';

/** What new rows are like: the rows that the document's own examples show, and what answers have that no client can send. */
export class Likeness {
  readonly #spec: Spec;
  readonly #samples: Samples;
  #examples: ReadonlyMap<string, JsonMap> | undefined;
  #kinds: ReadonlySet<string> | undefined;
  readonly #narrowing = new Map<string, string | undefined>();
  readonly #sendable: Sendable;
  /** The shapes of texts without their patterns. */
  readonly #plain = new WeakMap<Shape, Shape>();

  constructor(spec: Spec, samples: Samples) {
    this.#spec = spec;
    this.#samples = samples;
    this.#sendable = new Sendable(spec, samples);
  }

  /** A row of a resource as an example shows it. */
  exampleOf(resource: string): JsonMap | undefined {
    this.#examples ??= this.#findExamples();
    return this.#examples.get(resource);
  }

  /** A new row of which some fields are given, with those that the service alone sets; told are those made up. */
  of({ name, identifier, machines, fields }: RowModel, given: Fields, ground: Ground): Fields {
    const example = this.exampleOf(name) ?? {};
    const out: Fields = { ...given };
    for (const [field, entry] of fields) {
      if (given[field] !== undefined || field === identifier.field || entry.ref !== undefined) continue;
      if (machines.some((machine) => machine.hasInitial && machine.field === field)) continue;
      const value = this.#valueOf(entry, name, example[field], ground);
      if (value === undefined) continue;
      out[field] = value;
      if (value !== null) ground.sampled(below('', field));
    }
    const inside = [...fields.keys()].filter((field) => out[field] === undefined && this.#holdsOwn(fields.get(field), name));
    for (const [field, value] of [...Object.entries(given), ...inside.map((one) => [one, {}] as const)])
      this.#fillInside(out, field, value, fields.get(field), name, example, ground);
    return out;
  }

  /** Whether a map that a client may send, and did not, has members that the service alone sets: `properties.provisioningState`. */
  #holdsOwn(field: Field | undefined, resource: string): boolean {
    const shape = field && !field.writeOnly && field.visible?.length !== 0 && field.ref === undefined && statedValue(field.shape);
    if (!shape || !this.#sendable.has(resource, field.name)) return false;
    const members = Object.keys(this.#samples.membersOf(shape));
    const own = members.filter((member) => !this.#sendable.has(resource, `${field.name}/${member}`));
    return own.length > 0 && own.length < members.length;
  }

  /** A map that was sent has what the service alone sets in it, as the row itself has: `attributes.status`. */
  #fillInside(
    out: Fields,
    name: string,
    value: Value,
    field: Field | undefined,
    resource: string,
    example: JsonMap,
    ground: Ground,
  ): void {
    const shape = field && statedValue(field.shape);
    if (!isFields(value) || !shape) return;
    const shown = example[name];
    const whole: Fields = { ...value };
    for (const [member, inner] of Object.entries(this.#samples.membersOf(shape))) {
      if (value[member] !== undefined || !isPlainMap(inner)) continue;
      const isSent = this.#sendable.has(resource, `${name}/${member}`);
      const made = isSent
        ? emptyOf(inner, member, this.#samples)
        : this.#setByService(inner, member, isPlainMap(shown) ? shown[member] : undefined, ground);
      if (made === undefined) continue;
      whole[member] = made;
      if (made !== null) ground.sampled(below(below('', name), member));
    }
    if (this.#samples.of(shape, name).fits(whole)) out[name] = whole;
  }

  /** What the example shows; else, of what no client can send, a sample. Of what a client may send and did not, what is empty. */
  #valueOf(field: Field, resource: string, shown: Json | undefined, ground: Ground): Value {
    const isRequired = statedValue(field.required) === true;
    const shape = statedValue(field.shape) ?? {};
    if (field.visible?.length === 0) return undefined;
    const kind = isKindName(field.name) ? this.#kindOf(resource, shape, field.name) : undefined;
    if (kind !== undefined) return kind;
    if (field.writeOnly || field.deprecated !== undefined)
      return isRequired ? this.#shownFit(shape, field.name, shown) : undefined;
    const first = isRequired || shown !== undefined ? undefined : this.#firstState(resource, field.name, shape);
    if (first !== undefined) return first;
    if (!isRequired && this.#sendable.has(resource, field.name)) return emptyOf(shape, field.name, this.#samples);
    if (!isRequired) return this.#setByService(shape, field.name, shown, ground);
    const begun = stateOfNew(this.#samples.whole(shape).enum, field.name);
    return this.#shownFit(shape, field.name, shown) ?? this.#shownFit(shape, field.name, begun);
  }

  #shownFit(shape: Shape, name: string, shown: Json | undefined): Value {
    return shown !== undefined && this.#samples.of(shape, name).fits(shown) ? copy(shown) : undefined;
  }

  /** The state that a new thing is in, where no words are listed for it: of those that its description says, or by which its list is narrowed. */
  #firstState(resource: string, name: string, shape: Shape): string | undefined {
    const { type, enum: listed, description } = this.#samples.whole(shape);
    if (!stateNames.has(name.toLowerCase()) || type !== 'string' || listed !== undefined) return undefined;
    const [told] = describedWords(name, typeof description === 'string' ? description : undefined);
    const first = told ?? this.#narrowingWord(resource, name) ?? this.#sentWord(resource, name);
    return first !== undefined && this.#samples.of(shape, name).fits(first) ? first : undefined;
  }

  /** The first of the words that making a thing may send, where only that lists them. */
  #sentWord(resource: string, name: string): string | undefined {
    for (const [, endpoint] of entriesOf(this.#spec.endpoints.all)) {
      const effect = statedValue(endpoint.does);
      const sent = effect?.verb === 'create' && effect.resource === resource ? statedValue(endpoint.request) : undefined;
      const member = sent && this.#samples.membersOf(rowShapeIn(sent, endpoint, this.#samples))[name];
      const words = isPlainMap(member) ? this.#samples.whole(member).enum : undefined;
      const first = Array.isArray(words) ? words.find((word) => typeof word === 'string') : undefined;
      if (typeof first === 'string') return first;
    }
    return undefined;
  }

  /** The word in which most things begin, among those that the parameter of this name takes of the list of a resource. */
  #narrowingWord(resource: string, name: string): string | undefined {
    const key = `${resource}\n${name}`;
    const known = this.#narrowing.get(key);
    if (known !== undefined || this.#narrowing.has(key)) return known;
    const narrowing = entriesOf(this.#spec.endpoints.all).flatMap(([, { does, parameters }]) => {
      const isList = statedValue(does)?.verb === 'list' && resourceOfEffect(statedValue(does)) === resource;
      const own = isList ? entryOf(parameters, name) : undefined;
      const words = own && this.#samples.whole(statedValue(own.shape) ?? {}).enum;
      return Array.isArray(words) ? words.filter((word): word is string => typeof word === 'string') : [];
    });
    const first = narrowing.find((word) => beginnings.test(word));
    this.#narrowing.set(key, first);
    return first;
  }

  #setByService(given: Shape, name: string, shown: Json | undefined, ground: Ground): Value {
    // Some descriptions say of every member that it may be null: when a thing was made, and in which state it is, is known all the same.
    const isKnown = isOwnMark(name) || isStateName(name);
    const shape = isKnown && admitsNull(given) ? withoutNull(given) : given;
    const sampler = this.#samples.of(shape, name);
    const own = tellsApart(name) ? this.#samples.telling(shape, name, shown, chanceOf(`${ground.seed}\n${name}`)) : undefined;
    if (own !== undefined) return own;
    if (shown !== undefined && sampler.fits(shown)) return copy(shown);
    // What was just made tells of no error, and nothing is bound to it yet.
    if (isCountName(name) && sampler.fits(0)) return 0;
    if (isErrorName(name) || isOfItsEnd(name) || /(?:_|[a-z])ids$/i.test(name)) return emptyOf(shape, name, this.#samples);
    const { pattern, enum: listed, format } = this.#samples.whole(shape);
    if (!Number.isFinite(sampler.cost)) return undefined;
    if (pattern !== undefined && listed === undefined && format === undefined) return this.#ordinaryText(shape, name, ground);
    // A new thing stands where the list of its states begins.
    const first = stateOfNew(listed ?? wordsBesideNull(given, this.#samples), name);
    if (first !== undefined && sampler.fits(first)) return first;
    const made = sampler.make({ ...ground, isFull: true, keepsNull: true, sampled: () => {} }, below('', name));
    return made === nothing ? undefined : made;
  }

  /**
   * A pattern is the least that is asked of a text: what only that is known of is what it would be without one, where that fits, and is left out otherwise.
   */
  #ordinaryText(shape: Shape, name: string, ground: Ground): Value {
    const { pattern: _, ...rest } = this.#samples.whole(shape);
    const plain = this.#plain.get(shape) ?? rest;
    this.#plain.set(shape, plain);
    const made = this.#samples.of(plain, name).make({ ...ground, isFull: true, sampled: () => {} }, below('', name));
    return typeof made === 'string' && this.#samples.of(shape, name).fits(made) ? made : undefined;
  }

  /** `resource_type: tag` of a tag, where the example of that field is the name of some resource of the document: so every kind says its own. */
  #kindOf(resource: string, shape: Shape, name: string): string | undefined {
    const { type, example, enum: listed, const: constant } = this.#samples.whole(shape);
    if (type !== 'string' || typeof example !== 'string' || listed !== undefined || constant !== undefined) return undefined;
    this.#kinds ??= new Set(entriesOf(this.#spec.resources.all).map(([one]) => snakeOf(one)));
    if (!this.#kinds.has(example)) return undefined;
    const own = snakeOf(resource);
    const isOwn = own.replace(/_\d+$/, '') === example || !this.#isSaidOfOthers(name, example);
    const kind = isOwn ? example : own;
    return this.#samples.of(shape, name).fits(kind) ? kind : undefined;
  }

  /** Whether things of other names have the same example there, so that it is the word of one of them alone; `tag_basic` may well say `tag`. */
  #isSaidOfOthers(field: string, example: string): boolean {
    return entriesOf(this.#spec.resources.all).some(([other, { fields }]) => {
      const shape = snakeOf(other).startsWith(example) ? undefined : entryOf(fields, field)?.shape;
      return shape !== undefined && this.#samples.whole(statedValue(shape) ?? {}).example === example;
    });
  }

  #findExamples(): ReadonlyMap<string, JsonMap> {
    const found = new Map<string, JsonMap>();
    for (const [, { response }] of entriesOf(this.#spec.endpoints.all)) {
      for (const { status, shape, examples } of statedValue(response) ?? []) {
        const [first] = Object.values(examples);
        const stated = statedValue(shape);
        if (/^2/.test(status) && stated && first !== undefined) this.#gather(stated, first, 0, found);
      }
    }
    this.#overlayMade(found);
    return found;
  }

  /** What making a thing shows of it says more of a new one than what reading another shows. */
  #overlayMade(found: Map<string, JsonMap>): void {
    for (const [, { does, response }] of entriesOf(this.#spec.endpoints.all)) {
      const effect = statedValue(does);
      const stated = effect?.verb === 'create' ? entryOf(this.#spec.resources.all, effect.resource) : undefined;
      const identifier = stated && shownIdentifier(stated);
      const answer = identifier === undefined ? undefined : statedValue(response)?.find(({ status }) => /^2/.test(status));
      const [example] = Object.values(answer?.examples ?? {});
      if (!stated || identifier === undefined || !isPlainMap(example)) continue;
      const made = [example, ...Object.values(example)].find((one) => isPlainMap(one) && Object.hasOwn(one, identifier));
      if (isPlainMap(made)) found.set(stated.name, { ...found.get(stated.name), ...made });
    }
  }

  /** Gathers the rows that an example of a shape holds, the first of each resource. */
  #gather(shape: Shape, value: Json, depth: number, found: Map<string, JsonMap>): void {
    if (depth > depthMost) return;
    if (Array.isArray(value)) {
      const { items } = this.#samples.whole(shape);
      if (isPlainMap(items) && value.length > 0) this.#gather(items, value[0] as Json, depth + 1, found);
      return;
    }
    if (!isPlainMap(value)) return;
    const { resource } = shape;
    if (typeof resource === 'string') {
      if (!found.has(resource)) found.set(resource, value);
      return;
    }
    for (const [name, member] of Object.entries(this.#samples.membersOf(shape))) {
      const inner = value[name];
      if (isPlainMap(member) && inner !== undefined) this.#gather(member, inner, depth + 1, found);
    }
  }
}

/** Members by which a thing says of which kind it is. */
function isKindName(name: string): boolean {
  return /^_?(?:resource|record|object|entity)?_?(?:type|kind)$|^object$/i.test(name);
}

/** `EnumOptionResponse` as `enum_option`. */
function snakeOf(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z\d]+/g, '_')
    .toLowerCase()
    .replace(/_(?:response|compact|base|object|resource|full|read|out|dto|model)$/, '');
}

/** Words of a state in which most things begin. */
const beginnings = /^(?:open|active|enabled|new|pending|created|draft)$/i;

const stateNames: ReadonlySet<string> = new Set(['status', 'state']);

/** How deep rows are looked for in an example. */
const depthMost = 4;

/** Names of what no two things have in common, beside their identifier. */
function tellsApart(name: string): boolean {
  return /(?:^|_)(?:uuid|guid)$|[a-z](?:Uuid|UUID|Guid|GUID)$/.test(name);
}
