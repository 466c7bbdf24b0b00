import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml';
import type { Place, Pointer } from '../document.ts';
import { pathOf } from '../pointer.ts';
import type { Source } from '../source.ts';

/** Finds the place of a value by its path of keys, in the text of a JSON or YAML file. */
export interface PlaceFinder {
  /** The place of the value at a pointer, or of its key where the pointer ends in `#`; else of the nearest value around it. */
  find(pointer: Pointer): Place;
}

/** The text is gone through when a place is first asked for; what is kept are offsets, not places. */
export function placeFinder(source: Source): PlaceFinder {
  let index: EventIndex | undefined;
  return {
    find(pointer) {
      index ??= indexOf(source.text);
      const onKey = pointer.endsWith('#');
      const [from, to] = index === undefined ? start : stretchAt(index, pathOf(onKey ? pointer.slice(0, -1) : pointer), onKey);
      return source.place(from, to);
    },
  };
}

type Stretch = readonly [from: number, to: number];
const start: Stretch = [0, 0];

interface EventIndex {
  readonly text: string;
  readonly events: readonly Event[];
  /** For each event the index of the one after the value that it begins. */
  readonly after: Int32Array;
  /** The children of a collection, by its event, once they were asked for. */
  readonly children: Map<number, ReadonlyMap<string, Child>>;
}

interface Child {
  readonly key: number;
  readonly value: number;
}

function indexOf(text: string): EventIndex | undefined {
  try {
    const events = parseEvents(text, { maxDepth: 500 });
    const after = new Int32Array(events.length);
    const open: number[] = [];
    for (const [index, event] of events.entries()) {
      after[index] = index + 1;
      if (event.type === EVENT_ID.POP) after[open.pop() ?? 0] = index + 1;
      else if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) open.push(index);
    }
    return { text, events, after, children: new Map() };
  } catch {
    return undefined;
  }
}

function stretchAt(index: EventIndex, path: readonly string[], onKey: boolean): Stretch {
  let at = 1;
  let key = 1;
  for (const word of path) {
    const child = childrenOf(index, at).get(word);
    if (child === undefined) return stretchOf(index, at);
    ({ key, value: at } = child);
  }
  return stretchOf(index, onKey ? key : at);
}

function childrenOf(index: EventIndex, parent: number): ReadonlyMap<string, Child> {
  const known = index.children.get(parent);
  if (known) return known;
  const { events, after } = index;
  const children = new Map<string, Child>();
  const kind = events[parent]?.type;
  let at = parent + 1;
  const goesOn = (): boolean => at < events.length && events[at]?.type !== EVENT_ID.POP;
  if (kind === EVENT_ID.SEQUENCE) {
    for (let item = 0; goesOn(); item++) {
      children.set(String(item), { key: at, value: at });
      at = after[at] ?? at + 1;
    }
  } else if (kind === EVENT_ID.MAPPING) {
    while (goesOn()) {
      const key = events[at];
      const value = after[at] ?? at + 1;
      if (key?.type === EVENT_ID.SCALAR) {
        const word = getScalarValue(index.text, key);
        if (!children.has(word)) children.set(word, { key: at, value });
      }
      at = after[value] ?? value + 1;
    }
  }
  index.children.set(parent, children);
  return children;
}

function stretchOf({ events, after, text }: EventIndex, at: number): Stretch {
  const event = events[at];
  if (event === undefined) return start;
  if (event.type === EVENT_ID.SCALAR) return [event.valueStart, event.valueEnd];
  if (event.type === EVENT_ID.ALIAS) return [event.anchorStart, event.anchorEnd];
  if (event.type !== EVENT_ID.MAPPING && event.type !== EVENT_ID.SEQUENCE) return start;
  const last = lastScalar(events, at, after[at] ?? at + 1);
  return [event.start, Math.min(Math.max(last, event.start), text.length)];
}

/** Where the last scalar of a collection ends. */
function lastScalar(events: readonly Event[], from: number, to: number): number {
  for (let at = to - 1; at > from; at--) {
    const event = events[at];
    if (event?.type === EVENT_ID.SCALAR) return event.valueEnd;
  }
  return 0;
}
