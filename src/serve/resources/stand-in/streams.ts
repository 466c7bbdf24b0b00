import type { Answer } from '../../../parts/answers.ts';
import { nothing } from '../../../parts/samples/sampler.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { AnswerStream } from '../stand-in.ts';
import { groundOf } from './sampled-rows.ts';
import type { Sampling } from './sampling.ts';
import { tellSampled } from './sampling.ts';

/** How many pieces a stream has. */
const pieces = 3;

/** Compiles the answering as server-sent events or as lines of JSON. A request asks by `Accept`, or by `stream: true` in its body. */
export function compileStream({ stream }: Answer, produces: readonly string[], sampling: Sampling): AnswerStream | undefined {
  const type = produces.find((one) => isEvents(one) || isLines(one));
  if (!stream || type === undefined) return undefined;
  const sampler = sampling.shown.of(stream);
  const isAlone = produces.every((one) => one === type);
  return (exchange, work) => {
    if (!isAlone && !isAsked(exchange, type)) return undefined;
    const made = Array.from({ length: pieces }, (_, at): Value => {
      const place = `${exchange.call.method} ${exchange.call.path}\n${at}`;
      return sampler.make({ ...groundOf(sampling, work, place, () => {}), isFull: true }, '');
    }).filter((piece) => piece !== nothing);
    tellSampled(exchange, ['*']);
    return { type, body: made.map(isEvents(type) ? eventOf : lineOf).join('') };
  };
}

function isEvents(type: string): boolean {
  return type.startsWith('text/event-stream');
}

function isLines(type: string): boolean {
  return /^application\/(?:jsonl|x-ndjson|ndjson|x-jsonlines|json-seq|stream\+json)/.test(type);
}

function isAsked({ call, request }: Exchange, type: string): boolean {
  if (isFields(request) && typeof request.stream === 'boolean') return request.stream;
  const accept = String(call.headers.accept ?? '');
  return accept.includes(type.split(';')[0] ?? type) && !/^application\/json/.test(accept.trim());
}

/** One event, as the HTML standard (section 9.2) writes it: a piece that has `data` says its other fields itself. */
function eventOf(piece: Value): string {
  if (!isFields(piece) || piece.data === undefined) return `data: ${toJson(piece)}\n\n`;
  const { data, ...rest } = piece as Fields;
  const fields = ['event', 'id', 'retry'].flatMap((name) => (isWord(rest[name]) ? [`${name}: ${rest[name]}\n`] : []));
  return `${fields.join('')}data: ${typeof data === 'string' ? data.replaceAll('\n', '\ndata: ') : toJson(data)}\n\n`;
}

function isWord(value: Value): value is string | number {
  return (typeof value === 'string' && !/[\r\n]/.test(value)) || typeof value === 'number';
}

function lineOf(piece: Value): string {
  return `${toJson(piece)}\n`;
}
