import type { Pointer } from '../document/document.ts';
import type { Fact, Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** Part 1: what the service is for, where it stands, who uses it and what they can do with it. */
export interface Purpose {
  readonly at: Pointer;
  readonly purpose: Fact<string>;
  /** Absolute URLs; the path of the first is the prefix under which the endpoints are served. */
  readonly baseUrls: Fact<readonly string[]>;
  /** Each user with what it is. */
  readonly users: Fact<Named<string>>;
  /** Each function with the operations that carry it out. */
  readonly functions: Fact<Named<readonly string[]>>;
}

export function readPurpose(part: Source): Purpose {
  const source = part.eachOf(['purpose', 'base_url', 'users', 'functions']);
  return {
    at: source.at,
    purpose: source.get('purpose').fact((value) => value.text(), 'tags only'),
    baseUrls: source.get('base_url').fact((value) => value.words()),
    users: source
      .get('users')
      .fact((value) =>
        named(
          value.isMap
            ? value.entries().map(([name, text]) => [name, text.text() ?? ''] as const)
            : value.words().map((name) => [name, ''] as const),
        ),
      ),
    functions: source
      .get('functions')
      .fact((value) => named(value.entries().map(([name, list]) => [name, list.words()] as const))),
  };
}

/** The prefix of every endpoint's path: the first base URL's path without a trailing slash. */
export function basePath(purpose: Purpose): string {
  return basePaths(purpose)[0] ?? '';
}

/** The paths of all base URLs, in their order, without a trailing slash. */
export function basePaths({ baseUrls }: Purpose): readonly string[] {
  const urls = baseUrls.standing === 'stated' || baseUrls.standing === 'inferred' ? baseUrls.value : [];
  return urls.map((url) => {
    // `//host/path` names a host too, and leaves the scheme to whoever reads it (RFC 3986 section 4.2).
    const path = url.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '');
    return path.replace(/[?#].*$/, '').replace(/\/+$/, '');
  });
}
