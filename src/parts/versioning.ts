import type { Json, Pointer } from '../document/document.ts';
import { type Expression, entriesOf, type Fact, type Named, type Unstated } from './fact.ts';
import { expand, type Shape } from './shape.ts';
import { isPlainMap, named, type Source } from './source.ts';

/** Part 9: which versions there are, how one is chosen, and what changed between them. */
export interface Versioning {
  readonly at: Pointer;
  readonly versions: Fact<Named<Version>>;
  readonly others?: Unstated;
  readonly select: Fact<Selection>;
  readonly guarantee: Fact<'nothing' | 'additive' | 'anything'>;
  /** What each version changed. */
  readonly changes: Fact<Named<Fact<readonly Change[]>>>;
}

/** When something is given up, and what to use instead. Dates as written. */
export interface Deprecation {
  readonly at: Pointer;
  readonly deprecated?: string;
  readonly sunset?: string;
  /** Whether its end is announced alone, and it is served all the same. */
  readonly isAnnouncedOnly?: true;
  readonly alternative?: string;
  readonly link?: string;
}

export interface Version {
  readonly name: string;
  readonly at: Pointer;
  readonly current: boolean;
  /** None = it is promised not to be deprecated; the current version has none unless stated. */
  readonly deprecation: Fact<Deprecation>;
}

export interface Selection {
  readonly at: Pointer;
  readonly by: 'header' | 'path' | 'query' | 'pin';
  /** The header's or parameter's name, or the path template. */
  readonly carrier: string;
  readonly default: 'oldest' | 'current' | 'pinned' | 'none';
}

export type Change =
  | { readonly kind: 'rename'; readonly at: Pointer; readonly resource: string; readonly field: string; readonly to: string }
  | {
      readonly kind: 'add';
      readonly at: Pointer;
      readonly resource: string;
      readonly field: string;
      readonly default?: { readonly value: Json };
    }
  | {
      readonly kind: 'remove';
      readonly at: Pointer;
      readonly resource: string;
      readonly field: string;
      readonly was?: Shape;
      readonly down?: Expression;
    }
  | {
      readonly kind: 'map';
      readonly at: Pointer;
      readonly resource: string;
      readonly field: string;
      readonly was?: Shape;
      readonly down?: Expression;
      readonly up?: Expression;
      readonly monotone: boolean;
    }
  | {
      readonly kind: 'enum';
      readonly at: Pointer;
      readonly resource: string;
      readonly field: string;
      readonly values: Named<Json>;
    }
  | {
      readonly kind: 'endpoint';
      readonly at: Pointer;
      readonly endpoint: string;
      readonly added: boolean;
      readonly removed: boolean;
    };

export function readVersioning(source: Source): Versioning {
  const whole = source.unstated();
  const none = whole?.standing === 'none' ? whole : undefined;
  const versions = source.get('versions');
  const others = versions.has('others') ? versions.get('others').unstated() : undefined;
  return {
    at: source.at,
    versions:
      none ??
      versions.fact((value) =>
        named(
          value
            .entries()
            .filter(([name]) => name !== 'others')
            .map(([name, entry]) => [name, readVersion(name, entry)] as const),
        ),
      ),
    ...(others && { others }),
    select: none ?? source.get('select').fact(readSelection),
    guarantee: source.get('guarantee').fact((value) => {
      const word = value.text();
      return word === 'nothing' || word === 'additive' || word === 'anything' ? word : undefined;
    }),
    changes:
      none ??
      source
        .get('changes')
        .fact((value) =>
          named(
            value
              .entries()
              .map(
                ([name, list]) => [name, list.fact((entry) => entry.items().flatMap((item) => readChange(item) ?? []))] as const,
              ),
          ),
        ),
  };
}

const deprecationWords = ['deprecated', 'sunset', 'alternative', 'link'] as const;

/** A deprecation of an endpoint, a field or a version; `true` and a lone date are short forms. */
export function readDeprecation(source: Source): Deprecation | undefined {
  if (source.value === true) return { at: source.at };
  const standing = source.unstated();
  if (standing || source.value === undefined || source.value === false) return undefined;
  if (!source.isMap) return { at: source.at, deprecated: source.text() ?? '' };
  const words: Record<string, string> = {};
  for (const word of deprecationWords) {
    const text = source.get(word).text();
    if (text !== undefined) words[word] = text;
  }
  const sunset = source.get('sunset');
  const on = sunset.isMap ? sunset.get('on').text() : undefined;
  return {
    at: source.at,
    ...words,
    ...(on !== undefined && { sunset: on }),
    ...(sunset.isMap && sunset.get('then').text() === 'serves' && { isAnnouncedOnly: true }),
  };
}

/** The version that is current: the one that says so, else the last. */
export function currentVersion({ versions }: Versioning): string | undefined {
  const names = entriesOf(versions);
  return (names.find(([, { current }]) => current) ?? names.at(-1))?.[0];
}

/** A path template with its version filled in. */
export function versionedPath(template: string, version: string): string {
  const path = template.replace('{version}', () => encodeURIComponent(version));
  return path.startsWith('/') ? path : `/${path}`;
}

/** The date from which something is not served any more; nothing where none is stated, or it is announced alone. */
export function endOf({ sunset, isAnnouncedOnly }: Deprecation): string | undefined {
  return isAnnouncedOnly ? undefined : sunset;
}

function readVersion(name: string, source: Source): Version {
  const current = source.get('current').flag() ?? false;
  const stated = deprecationWords.some((word) => source.has(word));
  const written = source.get('deprecated').unstated();
  const deprecation: Fact<Deprecation> =
    stated && !(written && source.has('deprecated'))
      ? { standing: 'stated', value: readDeprecation(source) ?? { at: source.at }, at: source.at }
      : stated && written
        ? written
        : current
          ? { standing: 'none', at: source.at }
          : { standing: 'open', at: source.at };
  return { name, at: source.at, current, deprecation };
}

function readSelection(source: Source): Selection | undefined {
  const by = (['header', 'path', 'query'] as const).find((word) => source.has(word));
  const word = source.get('default').text();
  return {
    at: source.at,
    by: by ?? 'pin',
    carrier: by ? (source.get(by).text() ?? '') : '',
    default: word === 'oldest' || word === 'current' || word === 'pinned' ? word : 'none',
  };
}

function readChange(source: Source): Change | undefined {
  const at = source.at;
  if (source.has('endpoint')) {
    return {
      kind: 'endpoint',
      at,
      endpoint: source.get('endpoint').text() ?? '',
      added: source.get('added').flag() ?? false,
      removed: source.get('removed').flag() ?? false,
    };
  }
  const kind = (['rename', 'add', 'remove', 'map', 'enum'] as const).find((word) => source.has(word));
  if (!kind) return undefined;
  const target = source.get(kind).text() ?? '';
  const dot = target.indexOf('.');
  const place = { at, resource: dot < 0 ? target : target.slice(0, dot), field: dot < 0 ? '' : target.slice(dot + 1) };
  const was = source.has('was') ? expand(source.get('was').value as Json) : undefined;
  const down = source.get('down').expression();
  const up = source.get('up').expression();
  if (kind === 'rename') return { kind, ...place, to: source.get('to').text() ?? '' };
  if (kind === 'add')
    return { kind, ...place, ...(source.has('default') && { default: { value: source.get('default').value as Json } }) };
  if (kind === 'remove') return { kind, ...place, ...(was && { was }), ...(down && { down }) };
  if (kind === 'map') {
    const monotone = source.get('monotone').flag() ?? false;
    return { kind, ...place, ...(was && { was }), ...(down && { down }), ...(up && { up }), monotone };
  }
  const values = source.get('values').value;
  return { kind, ...place, values: named(isPlainMap(values) ? Object.entries(values) : []) };
}
