import type { Json, JsonMap } from '../../document/document.ts';
import type { Scheme } from '../../parts/authentication.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { CallerOf } from './callers.ts';

/**
 * Claims that a scheme's `caller` makes this caller of: the paths that its expressions read are filled in, and what comes
 * out is compared. Nothing where the mapping is not so simple that this finds them.
 */
export function claimsFor(scheme: Scheme, callerOf: CallerOf, caller: Caller, nowMs: number): JsonMap | undefined {
  const ids = pathsIn(scheme.caller.id?.source ?? 'claims.sub');
  const users = pathsIn(scheme.caller.user?.source ?? '');
  const scopes = pathsIn(scheme.caller.scopes?.source ?? 'claims.scope');
  const none = caller.scopes.length === 0 ? [undefined] : [];
  const attributes = Object.entries(caller.attributes ?? {}).flatMap(([name, value]) =>
    pathsIn(scheme.caller.attributes[name]?.source ?? `claims.${name}`).map((path) => [path, value] as const),
  );
  for (const words of [...none, caller.scopes.join(' '), [...caller.scopes]]) {
    for (const user of [caller.user, [caller.user]]) {
      const claims: JsonTree = {};
      if (words !== undefined) for (const path of scopes) put(claims, path, words);
      for (const path of users) put(claims, path, user);
      for (const path of ids) put(claims, path, caller.id);
      for (const [path, value] of attributes) put(claims, path, value);
      const made = callerOf(claims, nowMs);
      const has = new Set(made?.scopes);
      if (made?.id === caller.id && made.user === caller.user && caller.scopes.every((scope) => has.has(scope))) return claims;
    }
  }
  return undefined;
}

type JsonTree = { [key: string]: Json };

/** The paths that an expression reads of `claims`; what is called is no member. */
function pathsIn(source: string): string[][] {
  const member = String.raw`\s*\.\s*[A-Za-z_]\w*(?!\w|\s*\()|\[\s*(?:"[^"\\]+"|'[^'\\]+')\s*\]`;
  return [...source.matchAll(new RegExp(String.raw`\bclaims((?:${member})+)`, 'g'))].map(([, members = '']) =>
    [...members.matchAll(/[A-Za-z_]\w*|"[^"]+"|'[^']+'/g)].map(([word]) => word.replace(/^["'](.*)["']$/s, '$1')),
  );
}

function put(claims: JsonTree, path: readonly string[], value: Json): void {
  let at = claims;
  for (const [index, name] of path.entries()) {
    if (name === '__proto__') return;
    if (index === path.length - 1) at[name] = value;
    else {
      const inner = at[name];
      at[name] = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
      // It is a map: it was one, or has just been made.
      at = at[name] as JsonTree;
    }
  }
}
