import { isStated } from '../parts/fact.ts';
import type { Engine } from './engine.ts';
import type { OpenFact } from './open.ts';

/** The open facts of a path that is not listed: where the list is open, or is said not to be the whole. */
export function openRoutesOf({ compilation: { spec, facts } }: Engine): OpenFact[] | undefined {
  const { endpoints } = spec;
  if (endpoints.all.standing === 'open') return facts.ofPart('endpoints');
  if (!isStated(endpoints.all) || !endpoints.others) return undefined;
  return facts.others('endpoints');
}
