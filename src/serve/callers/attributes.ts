import type { JsonMap } from '../../document/document.ts';
import type { Scheme } from '../../parts/authentication.ts';
import { named } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Compilation } from '../exchange/compilation.ts';
import type { Caller, Value } from '../exchange/exchange.ts';

type Attributes = Readonly<Record<string, string>>;

/** A caller with what is known of it: each attribute is a member, as expressions read it. None hides what every caller has. */
export function withAttributes(caller: Caller, attributes: Attributes | undefined): Caller {
  return attributes && Object.keys(attributes).length > 0 ? { ...attributes, ...caller, attributes } : caller;
}

/** Whether a caller has every attribute that the document states. */
export function compileComplete({ authentication }: Spec): ((caller: Caller) => boolean) | undefined {
  const names = Object.keys(authentication.attributes);
  if (names.length === 0) return undefined;
  return ({ attributes = {} }) => names.every((name) => Object.hasOwn(attributes, name));
}

/** The attributes of a caller that is made up for this run: all the same. */
export function madeUpAttributes({ authentication }: Spec): Attributes {
  return named(Object.keys(authentication.attributes).map((name) => [name, 'dev'] as const));
}

/** What the claims of a token say of its bearer's attributes; one that they do not say is missing. */
export function compileAttributes(
  scheme: Scheme,
  { spec, expression }: Compilation,
): (claims: JsonMap, scope: Readonly<Record<string, Value>>) => Attributes {
  const readers = Object.keys(spec.authentication.attributes).map((name) => {
    const stated = scheme.caller.attributes[name];
    const evaluate = stated && expression(stated);
    return [
      name,
      (claims: JsonMap, scope: Readonly<Record<string, Value>>) => (evaluate ? evaluate(scope) : claims[name]),
    ] as const;
  });
  return (claims, scope) =>
    named(
      readers.flatMap(([name, read]) => {
        const value = read(claims, scope);
        return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
      }),
    );
}
