import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';

/**
 * Whether an endpoint gives a token for what its body shows: a key, a name with a password, or an older token. Whoever asks for its first one
 * has none to show, also where a description asks for one everywhere.
 */
export function exchangesCredential({ method, request, response }: Endpoint, samples: Samples): boolean {
  const sent = statedValue(request);
  if (method !== 'POST' || !sent || !namesIn(sent, samples).some((name) => isShown.test(name))) return false;
  const answers = (statedValue(response) ?? []).filter(({ status }) => /^2|^default$/.test(status));
  return answers.some(({ shape }) => {
    const answered = statedValue(shape);
    return answered !== undefined && tokenNames(namesIn(answered, samples)).length > 0;
  });
}

/** The names by which members are tokens: those that tokens have everywhere, and the pair of which one is called `access`. */
export function tokenNames(names: readonly string[]): readonly string[] {
  const isPair = names.includes('access') && names.some((name) => /^(?:refresh|access_?expires(?:_?(?:in|at))?)$/i.test(name));
  return names.filter((name) => isToken.test(name) || (isPair && (name === 'access' || name === 'refresh')));
}

/** The members of a shape, and of its branches. */
function namesIn(shape: Shape, samples: Samples): readonly string[] {
  return Object.keys(samples.membersOf(shape));
}

const isShown =
  /^(?:api_?key|api_?secret|client_?secret|secret_?(?:key|id)|pass_?(?:word|wd|phrase)|refresh(?:_?token)?|grant_?type|assertion)$/i;
const isToken = /^(?:access|auth|id|refresh|session)_?(?:[Tt]oken|[Jj]wt)$/;
