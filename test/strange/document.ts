/** Whole documents in all nine parts, drawn from the language's own grammar. */
import fc from 'fast-check';
import type { JsonMap } from '../../src/document/document.ts';
import { generateDocument } from '../serving/generated-document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { layAnswers } from './answers.ts';
import { layCallers, layPermissions } from './callers.ts';
import { layErrors } from './errors.ts';
import { layEvents } from './events.ts';
import { layFields } from './fields.ts';
import { type Draft, laid, oneIn, operationsOf } from './layers.ts';
import { layLimits } from './limits.ts';
import { layLog, laySecondWave } from './second-wave.ts';
import { layStates } from './states.ts';
import { layVersions } from './versions.ts';

/** A drawn document, with what was drawn in a few words. */
export interface StrangeDocument {
  readonly document: JsonMap;
  readonly traits: readonly string[];
}

/** Each states or leaves open what is its own, over what those before it have stated. */
const layers: readonly ((draw: Draw, draft: Draft) => Draft)[] = [
  layCallers,
  layFields,
  layStates,
  layAnswers,
  laySecondWave,
  layEvents,
  layLog,
  layErrors,
  layLimits,
  layVersions,
  layPermissions,
  layPurpose,
];

/** Draws one; every one of them is sound. */
export function strangeDocument(draw: Draw): StrangeDocument {
  const { document, resources } = generateDocument(draw);
  let draft: Draft = { document: { title: 'Strange', ...document }, resources, traits: [] };
  for (const lay of layers) draft = lay(draw, draft);
  return { document: draft.document, traits: draft.traits };
}

/** The document that a seed draws at a number, alone: no other one has to be drawn for it. */
export function strangeOf(seed: number, number: number): StrangeDocument {
  let drawn: StrangeDocument | undefined;
  const one = fc.property(fc.gen(), (draw) => {
    drawn = strangeDocument(draw);
  });
  const { error } = { error: undefined, ...fc.check(one, { seed: seed * 100_003 + number, numRuns: 1 }) };
  if (drawn === undefined) throw new Error(`Nothing was drawn: ${String(error)}`);
  return drawn;
}

function layPurpose(draw: Draw, draft: Draft): Draft {
  const names = operationsOf(draft.document).map(({ name }) => name);
  const base = pick<JsonMap>(draw, [
    {},
    { base_url: 'https://strange.example/v1' },
    { base_url: ['https://strange.example/a/b/', 'https://other.example'] },
    { base_url: 'none' },
  ]);
  const functions = pick<JsonMap>(draw, [{}, { functions: 'none' }, { functions: { work: names } }]);
  const isBased = 'base_url' in base && base.base_url !== 'none';
  return laid(draft, { purpose: { ...base, ...functions } }, ...(isBased && oneIn(draw, 1) ? ['base path'] : []));
}
