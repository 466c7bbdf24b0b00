import { type Ground, nothing } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { copy } from '../../http/json.ts';
import { isFields } from '../body.ts';
import { layOver, type MakeOpenAnswer, withoutErrors } from './open-answers.ts';

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
