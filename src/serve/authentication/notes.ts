import { isStated } from '../../parts/fact.ts';
import type { AuthenticationSetting } from '../authentication.ts';
import { acceptedSchemes, unsupportedBy } from './accepted.ts';
import { keyFlaw } from './proofs.ts';

/** What a person should know of how callers are known: for whom they are taken, which credentials cannot be verified, and why. */
export function authenticationNotes(engine: AuthenticationSetting): string[] {
  const { compilation, identify, development } = engine;
  const { spec, user } = compilation;
  if (identify) return [];
  if (!isStated(spec.authentication.schemes))
    return [`Every caller is taken for { id: 'local', user: ${user === undefined ? 'none' : `'${user}'`}, scopes: [] }.`];
  return [
    ...authenticationFlaws(engine),
    ...(development?.lacking ?? []).map(
      (name) => `No credential could be made for ${name}: its claims cannot be worked out from the scheme's \`caller\`.`,
    ),
  ];
}

/** Why credentials of accepted schemes cannot be verified, where that is known at the start. */
export function authenticationFlaws(engine: Pick<AuthenticationSetting, 'compilation' | 'environment' | 'readFile'>): string[] {
  return acceptedSchemes(engine.compilation.spec).flatMap((one) => {
    const unsupported = unsupportedBy(one);
    if (unsupported !== undefined) return [unsupported];
    const flaw = keyFlaw(one, engine);
    return flaw === undefined ? [] : [`Tokens of the scheme "${one.scheme.name}" cannot be verified: ${flaw}.`];
  });
}
