import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { asKey } from '../../../kinds/schemes/in-openapi.ts';
import { acceptedSets, kindOfScheme, placed, type Scheme } from '../../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import type { Spec } from '../../../parts/spec.ts';
import { DefinitionNames } from '../../json-schema/write/shape-schema.ts';
import { prefix } from '../own/stated-schema.ts';
import { type ExportWriting, statedAt } from './writing.ts';

/** How OpenAPI calls each scheme: by its own name, where that is made of the letters that it allows. */
function schemeNames({ authentication }: Spec): ReadonlyMap<string, string> {
  const names = new DefinitionNames();
  return new Map(entriesOf(authentication.schemes).map(([name]) => [name, names.claim(name)]));
}

/** The stated schemes. What OpenAPI has no word for stands beside each. */
export function securitySchemes(writing: ExportWriting): JsonMap {
  const { spec } = writing;
  const called = schemeNames(spec);
  const out = newMap();
  for (const [name, scheme] of entriesOf(spec.authentication.schemes)) {
    const stated = statedAt(spec.document.tree, 'authentication', 'schemes', name);
    const key = called.get(name) ?? name;
    const written = isMap(stated)
      ? schemeOf(scheme, stated)
      : { type: 'http', scheme: 'bearer', [`${prefix}stated`]: stated ?? null };
    const description = writing.prose(scheme.at).join('\n\n');
    out[key] = { ...(description !== '' && { description }), ...written, ...(key !== name && { [`${prefix}name`]: name }) };
  }
  return out;
}

function schemeOf(scheme: Scheme, stated: JsonMap): JsonMap {
  // Of a kind that there is none of it is only known where its credential stands.
  const { written, told, isKindTold } = kindOfScheme(scheme)?.toOpenApi(placed(scheme)) ?? asKey(placed(scheme), false);
  const out: OpenMap = Object.assign(newMap(), written);
  if (!isKindTold) out[`${prefix}type`] = stated.type ?? null;
  for (const [word, value] of Object.entries(stated))
    if (word !== 'type' && !told.includes(word)) out[`${prefix}${word}`] = value;
  return out;
}

/** What a caller has to show at an operation: one of the accepted schemes, nothing, or either; undefined where that is open. */
export function securityOf(operation: Operation, spec: Spec): readonly Json[] | undefined {
  const { schemes, public: open, permissions } = spec.authentication;
  if (!isStated(schemes)) return schemes.standing === 'none' ? [] : undefined;
  if (namesOperation(open, operation)) return [];
  const called = schemeNames(spec);
  const rules = (statedValue(permissions) ?? []).filter((rule) => namesOperation(rule.allow, operation));
  const takesScopes = (name: string): boolean => {
    const scheme = schemes.value[name];
    return scheme !== undefined && kindOfScheme(scheme)?.toOpenApi(placed(scheme)).takesScopes === true;
  };
  const wanted = acceptedSets(spec.authentication, operation.endpoint).flatMap((set) => {
    const scopes = set.some(takesScopes) ? rules.map((rule) => rule.scopes) : [];
    return leastOf(scopes.length === 0 ? [[]] : scopes).map(
      (asked): Json => Object.fromEntries(set.map((name) => [called.get(name) ?? name, takesScopes(name) ? [...asked] : []])),
    );
  });
  return rules.some((rule) => rule.to === 'anyone') ? [{}, ...wanted] : wanted;
}

/** The sets of scopes of which no other is a part: whoever has more than is asked for has enough. */
function leastOf(sets: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const isPart = (one: readonly string[], other: readonly string[]) => one.every((scope) => other.includes(scope));
  return sets.filter((set, index) =>
    sets.every((other, at) => at === index || !isPart(other, set) || (isPart(set, other) && index < at)),
  );
}
