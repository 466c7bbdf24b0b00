import type { Selection, Version } from '../../parts/versioning.ts';
import type { History } from '../../parts/versions/history.ts';
import type { Call } from '../call.ts';
import { dateMs } from '../deprecation.ts';
import type { Refusal } from '../exchange.ts';
import { describeValue } from '../wire/violation.ts';

/** What a call says of its version. */
export interface Asked {
  /** The version by its name; nothing where the call does not say. */
  readonly name: string | undefined;
  /** The path without what chose the version. */
  readonly path: string;
}

/** Compiles the reading of the version that a call asks for: by a header, a query parameter or a path. */
export function compileAsked(selection: Selection | undefined, history: History, basePath: string): (call: Call) => Asked {
  const { by, carrier } = selection ?? { by: 'pin', carrier: '' };
  if (by === 'header') {
    const header = carrier.toLowerCase();
    return ({ headers, path }) => {
      const sent = headers[header];
      return { name: Array.isArray(sent) ? sent.join(', ') : sent?.trim(), path };
    };
  }
  if (by === 'query') {
    return ({ query, path }) => {
      if (query === '') return { name: undefined, path };
      const sent = new Set(new URLSearchParams(query).getAll(carrier));
      return { name: sent.size === 0 ? undefined : [...sent].join(', '), path };
    };
  }
  if (by === 'path') {
    const listed = new Set(history.versions.map(({ name }) => name));
    const match = pathReader(carrier, basePath);
    return ({ path }) => {
      const found = match(path);
      return found && listed.has(found.name) ? found : { name: undefined, path };
    };
  }
  return ({ path }) => ({ name: undefined, path });
}

/** Reads a path template such as `/{version}` after the base path: what stands for the version, and the path without it. */
export function pathReader(template: string, basePath: string): (path: string) => { name: string; path: string } | undefined {
  const [before = '', after = ''] = template.split('{version}');
  const head = basePath + (before.startsWith('/') ? before : `/${before}`);
  return (path) => {
    if (!path.startsWith(head)) return undefined;
    const slash = path.indexOf('/', head.length);
    const segment = path.slice(head.length, slash < 0 ? path.length : slash);
    const rest = slash < 0 ? '' : path.slice(slash);
    const ending = after.split('/')[0] as string;
    const below = after.slice(ending.length);
    if (!segment.endsWith(ending) || segment.length === ending.length || !rest.startsWith(below)) return undefined;
    const raw = segment.slice(0, segment.length - ending.length);
    return { name: decoded(raw), path: basePath + rest.slice(below.length) };
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The refusal of a version that is not listed, or of none where one is wanted. */
export function unknownVersion(selection: Selection | undefined, history: History, name: string | undefined): Refusal {
  const names = history.versions.map((version) => version.name).join(', ');
  const place = selection?.by === 'header' || selection?.by === 'query' || selection?.by === 'path' ? selection.by : undefined;
  const path = place === 'path' ? 'version' : (selection?.carrier ?? '');
  return {
    when: 'version.unknown',
    ...(place && { violations: [{ in: place, path, found: describeValue(name), expected: `one of ${names}` }] }),
  };
}

/** Whether a version's last day has come. */
export function isSunset(sunsetMs: number | undefined, nowMs: number): boolean {
  return sunsetMs !== undefined && nowMs >= sunsetMs;
}

/** When a version is gone, in milliseconds since 1970. */
export function sunsetMsOf({ deprecation }: Version): number | undefined {
  return deprecation.standing === 'stated' || deprecation.standing === 'inferred' ? dateMs(deprecation.value.sunset) : undefined;
}
