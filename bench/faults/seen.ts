/** Short words for what a demonstration sees. */
import type { Heard, Seen } from './demonstration.ts';

export type Right = (seen: Seen) => boolean;

/** The status of the last answer, or its status and its code. */
export function is(status: number, code?: string): Right {
  return ({ last }) => last.status === status && (code === undefined || codeOf(last) === code);
}

/** Members of the last answer's body, as they have to be; undefined where they have to be absent. */
export function shows(members: Readonly<Record<string, unknown>>): Right {
  return ({ last }) => fits(last.body, members);
}

export function lacks(...names: readonly string[]): Right {
  return ({ last }) => last.status < 300 && names.every((name) => !Object.hasOwn(Object(last.body), name));
}

/** A header of the last answer; undefined where it has to be absent. */
export function carries(name: string, value: string | RegExp | undefined): Right {
  return ({ last }) => {
    const sent = last.headers[name];
    return value instanceof RegExp ? value.test(String(sent ?? '')) : sent === value;
  };
}

/** How many rows the last answer lists, under the name of their list. */
export function lists(count: number, under = 'data'): Right {
  return ({ last }) => rowsOf(last, under).length === count;
}

/** The rows of the last list, one member of each. */
export function listing(name: string, values: readonly unknown[], under = 'data'): Right {
  return ({ last }) => JSON.stringify(rowsOf(last, under).map((row) => row[name])) === JSON.stringify(values);
}

/** The kinds of event that were told of, in their order. */
export function tells(...kinds: readonly string[]): Right {
  return ({ told }) => JSON.stringify(told.map(({ kind }) => kind)) === JSON.stringify(kinds);
}

/** Members of the payload that was told last. */
export function tellsOf(members: Readonly<Record<string, unknown>>): Right {
  return ({ told }) => told.length > 0 && fits(told.at(-1)?.payload, members);
}

export function rowsOf({ body }: Heard, under: string): Record<string, unknown>[] {
  const found = under === '' ? body : Object(body)[under];
  return Array.isArray(found) ? found : [];
}

function codeOf({ body }: Heard): unknown {
  const told = Object(body);
  return told.code ?? Object(told.error).code;
}

function fits(body: unknown, members: Readonly<Record<string, unknown>>): boolean {
  const found = Object(body);
  return Object.entries(members).every(([name, value]) => JSON.stringify(found[name]) === JSON.stringify(value));
}
