/** Answers of which only the shape is known. */

import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isOfType } from '../../../document/values.ts';
import type { Named } from '../../../parts/fact.ts';
import { type Ground, nothing } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { admitsNull, withoutNull } from '../../../parts/samples/whole-shape.ts';
import type { Shape } from '../../../parts/shape.ts';
import { alternativesOf } from '../../../parts/shapes/branches.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { copy } from '../../http/json.ts';
import { isFields } from '../body.ts';

/** Makes an answer of which only its shape is known: in the likeness of its first example, with what was sent where it has a place for it. */
type MakeOpenAnswer = (sent: Fields, ground: Ground) => Value | typeof nothing;

/** Compiles it. What was sent and has no place in the shape is not answered; what is only ever written neither. */
export function compileOpenAnswer(shape: Shape, examples: Named<Json>, samples: Samples): MakeOpenAnswer {
  const example = Object.values(examples).find((one) => isOfAnswer(shape, one, samples));
  // Where no value is of exactly one of several forms, since they overlap, the first that can be made stands for them.
  const forms = example === undefined ? formsOf(shape, samples).slice(0, formsMost) : [shape];
  return (sent, ground) => {
    for (const form of forms) {
      const whole = openAnswer(form, example, sent, ground, samples);
      if (whole !== nothing) return whole;
    }
    return nothing;
  };
}

/** Whether an example is one of this answer: of its type, with a member of it where any are said, and with lists where it has lists. */
function isOfAnswer(shape: Shape, example: Json, samples: Samples): boolean {
  const { type } = samples.whole(shape);
  if (typeof type === 'string' && !isOfType(example, type)) return false;
  const members = samples.membersOf(shape);
  if (!isPlainMap(example) || Object.keys(members).length === 0 || Object.keys(example).length === 0) return true;
  const shown = Object.entries(members).filter(([name]) => Object.hasOwn(example, name));
  const isList = (member: Json) => samples.whole(shapeIn(member)).type === 'array';
  return shown.length > 0 && shown.every(([name, member]) => !isList(member) || !isPlainMap(example[name]));
}

/**
 * The forms of an answer, the whole first; null is none of them, which generators write of any: nobody asks to be told nothing.
 * Nor is one that is deprecated, where others are not.
 */
function formsOf(shape: Shape, samples: Samples): readonly Shape[] {
  const forms = alternativesOf(shape);
  const told = forms.filter((form) => form.type !== 'null' && samples.whole(form).deprecated !== true);
  if (told.length > 0 && told.length < forms.length) return told;
  return [admitsNull(shape) ? withoutNull(shape) : shape, ...forms];
}

/** How many forms of an answer are tried. */
const formsMost = 8;

function openAnswer(
  shape: Shape,
  example: Json | undefined,
  sent: Fields,
  ground: Ground,
  samples: Samples,
): Value | typeof nothing {
  const sampler = samples.of(shape);
  const quiet = { ...ground, sampled: () => {} };
  // An example is its author's word for what is answered, whether or not it fits the schema to the letter.
  const made = example === undefined ? sampler.make(quiet, '') : copy(example);
  if (made === nothing) return nothing;
  if (example === undefined) withoutErrors(shape, made, samples);
  const kept = new Set<string>();
  lay(shape, made, unwrapped(sent, shape, samples), '', kept, samples);
  const whole = kept.size === 0 || sampler.fits(made) ? made : sampler.complete(made, quiet, '');
  if (whole !== nothing) tellMade(whole, '', kept, ground);
  return whole;
}

/** What is sent in one map alone, `{ article: { title } }`, where the answer has no such member and has those of the map. */
function unwrapped(sent: Fields, shape: Shape, samples: Samples): Fields {
  const [[name, inner] = [], ...more] = Object.entries(sent);
  if (name === undefined || more.length > 0 || !isFields(inner)) return sent;
  const members = samples.membersOf(shape);
  const isWrapped = !Object.hasOwn(members, name) && Object.keys(inner).some((one) => Object.hasOwn(members, one));
  return isWrapped ? inner : sent;
}

/** What succeeds tells of no error: members that are called so are left out, or say that there is none. */
function withoutErrors(shape: Shape, made: Value, samples: Samples): void {
  if (Array.isArray(made)) {
    const { items } = samples.whole(shape);
    for (const one of made) withoutErrors(shapeIn(items), one, samples);
    return;
  }
  if (!isFields(made)) return;
  const { required } = samples.whole(shape);
  for (const [name, member] of Object.entries(samples.membersOf(shape))) {
    if (made[name] === undefined || !isErrorName(name)) continue;
    const none = [0, null, [], ''].find((value) => samples.of(member, name).fits(value));
    if (typeof made[name] === 'number' ? none === 0 : Array.isArray(required) && required.includes(name) && none !== undefined)
      made[name] = none as Value;
    else if (!Array.isArray(required) || !required.includes(name)) delete made[name];
  }
}

/** Names of members that tell what went wrong. */
export function isErrorName(name: string): boolean {
  return /^_?(?:errors?|error_?(?:codes?|messages?|details?|info|types?|reason)|(?:validation|failure)_?(?:errors?|codes?|messages?|reasons?|details?))$/i.test(
    name,
  );
}

/** How deep what was sent is looked for a place. */
const depthMost = 4;

/** Lays what was sent over what is made, in place: under the same names, or in the one envelope whose members have them. */
function lay(shape: Shape, made: Value, sent: Fields, path: string, kept: Set<string>, samples: Samples): void {
  if (!isFields(made) || path.split('/').length > depthMost) return;
  const members = samples.membersOf(shape);
  const named = Object.entries(sent).filter(([name]) => Object.hasOwn(members, name) && !isWriteOnly(members[name]));
  for (const [name, value] of named) {
    const inner = shapeIn(members[name]);
    const at = below(path, name);
    const isWhole =
      isFreeMap(inner, samples) ||
      (!hasMembers(inner, samples) && Object.keys(members).length > 1) ||
      (isFields(value) && hasOtherNames(value, inner, samples));
    if (isFields(value) && isFields(made[name]) && !isWhole) lay(inner, made[name], value, at, kept, samples);
    else if (samples.of(inner, name).fits(value)) {
      made[name] = value;
      kept.add(at);
    }
  }
  if (named.length > 0) return;
  const envelopes = Object.entries(members).filter(([name]) => isFields(made[name]));
  const having = envelopes.filter(([, inner]) => {
    const names = samples.membersOf(shapeIn(inner));
    return Object.keys(sent).some((name) => Object.hasOwn(names, name));
  });
  const [only] = having;
  if (only && (having.length === 1 || envelopes.length === 1))
    lay(shapeIn(only[1]), made[only[0]], sent, below(path, only[0]), kept, samples);
}

/** Whether a map has names, and none that its shape knows: `{ en_US }`, of which a description says `localeCode`. */
function hasOtherNames(value: Fields, shape: Shape, samples: Samples): boolean {
  const known = samples.membersOf(shape);
  const names = Object.keys(value);
  return names.length > 0 && Object.keys(known).length > 0 && !names.some((name) => Object.hasOwn(known, name));
}

function hasMembers(shape: Shape, samples: Samples): boolean {
  return Object.keys(samples.membersOf(shape)).length > 0;
}

/**
 * A map whose names are free has no places for some of it, and is taken whole. An object of which nothing is said is one beside
 * other members; alone in its answer it is an envelope with nothing in it.
 */
function isFreeMap(shape: Shape, samples: Samples): boolean {
  const { additionalProperties: others, patternProperties } = samples.whole(shape);
  return !hasMembers(shape, samples) && ((others !== undefined && others !== false) || patternProperties !== undefined);
}

/** Lays what was sent of a thing over one that is made, in place. */
function layOver(shape: Shape, made: Fields, sent: Fields, samples: Samples): void {
  lay(shape, made, sent, '', new Set(), samples);
}

function shapeIn(shape: Json | undefined): Shape {
  return isPlainMap(shape) ? shape : {};
}

function isWriteOnly(shape: Json | undefined): boolean {
  return isPlainMap(shape) && shape.writeOnly === true;
}

/** Names what is made up: a member with everything in it, unless something of it was sent. */
function tellMade(value: Value, path: string, kept: ReadonlySet<string>, ground: Ground): void {
  if (kept.has(path)) return;
  const isWhole = ![...kept].some((at) => at.startsWith(`${path}/`));
  if (!isFields(value) || (isWhole && path !== '')) ground.sampled(path);
  else for (const [name, inner] of Object.entries(value)) tellMade(inner, below(path, name), kept, ground);
}

/** Makes an answer of which only its shape is known. */
type AnswerForEach = (sent: Fields, ground: Ground, exchange: Exchange) => Value | typeof nothing;

/**
 * Compiles it so that the one list of things in the answer of a POST has as many as the request sends or asks for. Of what is sent that is for each: a list that is the whole
 * body; else the one list of things that have a member of the answer's things (`to: [{ email }]`, each result has an `email`), or of texts that are called input
 * (`inputs: […]`); else as many as `n` says, where the things have an `index`. `isOpen`: nobody knows what is done.
 */
export function compileForEach(shape: Shape, answer: MakeOpenAnswer, samples: Samples, isOpen: boolean): AnswerForEach {
  const found = isOpen ? listIn(shape, samples) : undefined;
  if (!found) return answer;
  const { name, items } = found;
  const names = new Set(Object.keys(samples.membersOf(items)));
  const isNumbered = names.has('index');
  const sampler = samples.of(items);
  return (fields, ground, exchange) => {
    const whole = answer(fields, ground);
    const sent = exchange.call.method === 'POST' ? sentFor(exchange.request, names, isNumbered) : undefined;
    if (sent === undefined || whole === nothing) return whole;
    const list = name === undefined ? whole : isFields(whole) ? whole[name] : undefined;
    if (!Array.isArray(list)) return whole;
    const made = sent.map((one, at): Value => {
      const fresh =
        at < list.length ? list[at] : sampler.make({ ...ground, seed: `${ground.seed}\n${at}`, sampled: () => {} }, '');
      const thing: Value = fresh === nothing || fresh === undefined ? copy((list[0] ?? {}) as Value) : (fresh as Value);
      withoutErrors(items, thing, samples);
      if (isFields(thing) && isFields(one)) layOver(items, thing, one, samples);
      if (isNumbered && isFields(thing)) thing.index = at;
      return thing;
    });
    return name === undefined || !isFields(whole) ? made : Object.assign(whole, { [name]: made });
  };
}

/** The list that an answer is, or the only list of things that it has. */
function listIn(shape: Shape, samples: Samples): { readonly name?: string; readonly items: Shape } | undefined {
  const { items } = samples.whole(shape);
  if (isPlainMap(items)) return { items };
  const lists = Object.entries(samples.membersOf(shape)).flatMap(([name, member]) => {
    const inner = isPlainMap(member) ? samples.whole(member).items : undefined;
    return isPlainMap(inner) && Object.keys(samples.membersOf(inner)).length > 0 ? [{ name, items: inner }] : [];
  });
  return lists.length === 1 ? lists[0] : undefined;
}

const mostAnswered = 1000;

function sentFor(request: Value, names: ReadonlySet<string>, isNumbered: boolean): readonly Value[] | undefined {
  if (Array.isArray(request)) return request.length > 0 && request.length <= mostAnswered ? request : undefined;
  if (!isFields(request)) return undefined;
  const inside = Object.values(request).filter(isFields);
  const members = [request, ...inside].flatMap((map) => Object.entries(map));
  const lists = members.flatMap(([name, value]): [string, readonly Value[]][] =>
    Array.isArray(value) && value.length > 0 && value.length <= mostAnswered ? [[name, value]] : [],
  );
  const ofThings = lists.filter(([, list]) =>
    list.every((one) => isFields(one) && Object.keys(one).some((name) => names.has(name) && !told.test(name))),
  );
  const ofTexts = lists.filter(([name, list]) => inputs.test(name) && list.every((one) => typeof one === 'string'));
  const [first] = ofThings.length === 1 ? ofThings : ofTexts;
  if (first) return first[1];
  const { n } = request;
  const isCount = typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= countedMost;
  return isNumbered && isCount ? Array.from({ length: n }, () => undefined) : undefined;
}

/** Members that most things have say nothing of which is answered for which. */
const told = /^_?(?:type|kind|object|status|name|role|content|text)$/i;
const inputs = /^(?:inputs?|texts?|prompts?|documents|queries|sentences)$/i;
const countedMost = 100;
