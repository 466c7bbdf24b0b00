import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { acceptedSchemes, unsupportedBy } from '../callers/accepted-schemes.ts';
import type { AuthenticationSetting } from '../callers/authentication.ts';
import { keyFlaw } from '../callers/proofs.ts';
import { protectingBounds } from '../limits/stated-bounds.ts';
import type { Engine } from '../operations/engine.ts';

/** What a person should know when a service starts: what is stated and not enforced, what is missing, what protects the process. */
export function notesOf(engine: Engine): string[] {
  const { compilation, handlers } = engine;
  const { spec } = compilation;
  const missing = entriesOf(spec.endpoints.all).flatMap(([, { does }]) => {
    const effect = statedValue(does);
    return effect?.verb === 'handler' && !handlers[effect.name] ? [effect.name] : [];
  });
  return [
    ...authenticationNotes(engine),
    ...(missing.length > 0
      ? [
          `No handler is supplied for ${[...new Set(missing)].join(', ')}: ${missing.length === 1 ? 'it answers' : 'they answer'} 501.`,
        ]
      : []),
    ...boundsNote(protectingBounds(spec.limits)),
  ];
}

/** That there are bounds which nobody stated; the ledger has them all. */
function boundsNote(bounds: readonly string[]): string[] {
  const [first] = bounds;
  if (first === undefined) return [];
  const others = bounds.length - 1;
  return [
    `To protect the process: ${first}${others > 0 ? ` The ledger has ${others} more such bound${others === 1 ? '' : 's'}.` : ''}`,
  ];
}

/** What a person should know of how callers are known: for whom they are taken, which credentials cannot be verified, and why. */
function authenticationNotes(engine: AuthenticationSetting): string[] {
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
function authenticationFlaws(
  engine: Pick<AuthenticationSetting, 'compilation' | 'environment' | 'readFile' | 'signsAll'>,
): string[] {
  return acceptedSchemes(engine.compilation.spec).flatMap((one) => {
    const unsupported = unsupportedBy(one, engine);
    if (unsupported !== undefined) return [unsupported];
    const flaw = keyFlaw(one, engine);
    return flaw === undefined ? [] : [`Tokens of the scheme "${one.scheme.name}" cannot be verified: ${flaw}.`];
  });
}
