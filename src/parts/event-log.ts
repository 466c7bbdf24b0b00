import type { Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/measures.ts';
import { type Expression, type Fact, type Named, statedValue } from './fact.ts';
import type { Source } from './source.ts';

/** The events of a service as rows of a resource: each that is emitted is one. */
export interface EventLog {
  readonly at: Pointer;
  /** The resource whose rows they are. */
  readonly resource: string;
  /** How long a row is kept, in milliseconds; infinite for `forever`, nothing where it is not said, or is no time. */
  readonly keepMs?: number;
  /** What of an event a field holds. */
  readonly set: Named<Expression>;
}

export function readLog(source: Source): Fact<EventLog> {
  return source.fact((value) => {
    if (!value.isMap) return undefined;
    const keep = value.get('keep').text() ?? '';
    const keepMs = keep === 'forever' ? Number.POSITIVE_INFINITY : durationMs(keep);
    return {
      at: value.at,
      resource: value.get('resource').text() ?? '',
      ...(keepMs !== undefined && { keepMs }),
      set: value.get('set').madeValues(),
    };
  });
}

/** The log that a document states. */
export function logOf({ events }: { readonly events: { readonly log: Fact<EventLog> } }): EventLog | undefined {
  return statedValue(events.log);
}

/** What expressions of the log are known by, for events about rows of a resource, or about none. */
export function loggedOf(resource: string | undefined): string {
  return resource === undefined ? 'log what is about no row' : `log ${resource}`;
}
