import type { Pointer } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { isJson } from '../../../kinds/http-token.ts';
import type { At, MapAt, SourceReader } from './reader.ts';

/** One operation of a source, in the form of OpenAPI 3 whatever it was written in. */
export interface SourceOperation {
  /** `GET /v1/customers/{customer}`. */
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** The operation's own map. */
  readonly map: MapAt;
  /** Its `operationId`. */
  readonly id: string | undefined;
  readonly parameters: readonly SourceParameter[];
  readonly body: SourceBody | undefined;
  readonly responses: readonly Response[];
  /** What the name of the thing that it is about goes through, where the source has it as one parameter that spans segments. */
  readonly spread?: SpreadName;
}

/** A name that is a path of its own, `projects/*\/topics/*`, where it is what an operation on one thing is about. */
export interface SpreadName {
  /** The collections that the name goes through: `projects`, `topics`. */
  readonly collections: readonly string[];
  /** Whether the source says this operation of another collection of the same path alone. */
  readonly isOfOther: boolean;
}

export interface SourceParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly map: MapAt;
  /** Its schema: its own, or that of the one media type that it is written in. */
  readonly schema: At;
  /** The style and explosion that the source says, in the words of OpenAPI 3. */
  readonly style: string | undefined;
  readonly explode: boolean | undefined;
}

export interface SourceBody {
  readonly at: Pointer;
  readonly required: boolean;
  readonly content: readonly Content[];
}

/** A body in one media type. */
export interface Content {
  readonly type: string;
  readonly schema: At;
  /** The media type's own map, with examples and encodings. */
  readonly map: MapAt | undefined;
  /** The whole bodies that Swagger 2.0 shows of an answer, by media type. */
  readonly shown?: MapAt;
}

export interface Response {
  /** `200`, `4XX`, `default`. */
  readonly status: string;
  readonly map: MapAt;
  readonly content: readonly Content[];
  readonly headers: readonly Header[];
}

interface Header {
  readonly name: string;
  readonly map: MapAt;
  readonly schema: At;
  /** Whether every answer has it. */
  readonly required: boolean;
}

/** The content in the media type that says most: JSON, else the first with a schema. */
export function mainContent(content: readonly Content[]): Content | undefined {
  const described = content.filter(({ schema }) => isMap(schema.value) || typeof schema.value === 'boolean');
  return described.find(({ type }) => isJson(type)) ?? described[0] ?? content[0];
}

/** Whether a media type is one of streams: server-sent events, or a value of JSON on each line. */
export function isStream(type: string): boolean {
  return /^(?:text\/event-stream|application\/(?:jsonl|x-ndjson|ndjson|x-jsonlines|json-seq|stream\+json))\s*(?:;|$)/i.test(type);
}

/** The headers that a response declares. */
export function headersOf(response: MapAt, reader: SourceReader): Header[] {
  return reader.maps(response, 'headers').map(([name, map]) => {
    reader.mark(response.value, 'headers');
    const isOld = reader.dialect === '2.0';
    const required = reader.flag(map, isOld ? 'x-required' : 'required');
    return { name, map, required, schema: isOld ? { value: map.value, at: map.at } : schemaOfParameter(map, reader) };
  });
}

/** A parameter is written by a schema, or in one media type, whose schema it then has. */
export function schemaOfParameter(map: MapAt, reader: SourceReader): At {
  if (Object.hasOwn(map.value, 'schema')) return reader.get(map, 'schema');
  const [[, content] = []] = reader.maps(map, 'content');
  return content ? reader.get(content, 'schema') : { value: undefined, at: map.at };
}
