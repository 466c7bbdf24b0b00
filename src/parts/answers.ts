import type { Json, Pointer } from '../document/document.ts';
import type { Expression, Fact, Named } from './fact.ts';
import { readShape } from './read-shape.ts';
import type { Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** One stated answer of an endpoint. */
export interface Answer {
  readonly at: Pointer;
  /** `200`, or a range such as `4XX`, or `default`. */
  readonly status: string;
  readonly shape: Fact<Shape>;
  /** CEL over what came out, by field of the answer; a lone expression makes the whole. */
  readonly data?: Named<Expression> | Expression;
  /** CEL by header, for those whose value is said. */
  readonly headers: Named<Expression>;
  /** The headers that an answer may lack. */
  readonly optionalHeaders: readonly string[];
  /** The media types of this answer, where they are not those of the endpoint. */
  readonly produces?: readonly string[];
  /** The shapes of headers that are stated by one. */
  readonly headerShapes: Named<Shape>;
  readonly if?: Expression;
  readonly example?: { readonly value: Json };
  /** The shape of each piece of the answer, where it is given as a stream of events or lines. */
  readonly stream?: Shape;
  /** Whole bodies as they may be answered, by name: they explain, and a stand-in shows them. */
  readonly examples: Named<Json>;
}

const answerWords = ['shape', 'data', 'headers', 'produces', 'if', 'example', 'examples', 'stream'] as const;

/** One status may have several answers, told apart by `if`. */
export function readAnswers(source: Source): Answer[] {
  return source.entries().flatMap(([status, entry]) => {
    const list = Array.isArray(entry.value) && !isShortList(entry.value) ? entry.items() : [entry];
    return list.map((item) => readAnswer(status, item));
  });
}

function isShortList(value: readonly Json[]): boolean {
  return value.length === 1 && typeof value[0] === 'string';
}

/** A header is an expression, or a map with its shape and, where that is said too, the expression. */
function readHeaders(source: Source | undefined): Pick<Answer, 'headers' | 'headerShapes' | 'optionalHeaders'> {
  const entries = source?.entries() ?? [];
  return {
    headers: named(
      entries.flatMap(([name, entry]) => {
        const expression = (entry.isMap ? entry.get('data') : entry).expression();
        return expression ? [[name, expression] as const] : [];
      }),
    ),
    headerShapes: named(
      entries.flatMap(([name, entry]) => {
        const shape = entry.isMap ? readShape(entry.get('shape')) : undefined;
        return shape ? [[name, shape] as const] : [];
      }),
    ),
    optionalHeaders: entries.flatMap(([name, entry]) => (entry.isMap && entry.get('required').flag() === false ? [name] : [])),
  };
}

/** What a reply may answer with: its example, or one of several. */
export function repliedWith({ example, examples }: Answer): readonly Json[] {
  return example ? [example.value] : Object.values(examples);
}

function readAnswer(status: string, source: Source): Answer {
  // `example` and `if` are words of JSON Schema too: alone among schema words they make no full form.
  const keys = source.entries().map(([key]) => key);
  const isFull =
    keys.includes('shape') ||
    keys.includes('data') ||
    (keys.length > 0 && keys.every((key) => (answerWords as readonly string[]).includes(key)));
  const body = isFull ? source.get('shape') : source;
  const data = isFull ? source.get('data') : undefined;
  const condition = isFull ? source.get('if').expression() : undefined;
  const stream = isFull && source.has('stream') ? readShape(source.get('stream')) : undefined;
  const expression = data && !data.isMap ? data.expression() : undefined;
  return {
    at: source.at,
    status,
    shape: body.fact((value) => readShape(value)),
    ...(expression ? { data: expression } : data?.isMap && { data: data.madeValues() }),
    ...readHeaders(isFull ? source.get('headers') : undefined),
    ...(isFull && source.has('produces') && { produces: source.get('produces').words() }),
    ...(condition && { if: condition }),
    ...(isFull && source.has('example') && { example: { value: source.get('example').value as Json } }),
    ...(stream && { stream }),
    examples: named(
      isFull && source.get('examples').isMap
        ? source
            .get('examples')
            .entries()
            .map(([name, entry]) => [name, entry.value as Json] as const)
        : [],
    ),
  };
}
