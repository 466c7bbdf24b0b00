import type { MapAt } from '../../openapi/reader.ts';

/** One operation of a source, whatever its version: what the service sends, or takes, over a channel. */
export interface Operation {
  readonly at: string;
  /** Whether the service sends the messages; else whoever uses it does. */
  readonly sends: boolean;
  readonly messages: readonly NamedMessage[];
}

/** A message and the name that stands nearest to it. */
export interface NamedMessage {
  readonly name: string;
  readonly map: MapAt;
}
