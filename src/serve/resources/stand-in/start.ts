import type { Spec } from '../../../parts/spec.ts';
import { identifierText } from '../model.ts';
import type { StandIn } from '../stand-in.ts';
import { asMeant, compileCompletion, exampleAsked } from './answers.ts';
import { compileForgive, warningHeader } from './leniency.ts';
import { compileErrorAnswers, compilePayloadCompletion } from './refusals.ts';
import { keepNames, namesOfRow, sampledHeader, tellSampled } from './sampled-names.ts';
import { completeRow, makeRow, mendRow, newIdentifier } from './sampled-rows.ts';
import { Sampling } from './sampling.ts';
import { compileStream } from './streams.ts';
import { UnmadeRows } from './unmade-rows.ts';

/** Starts a stand-in: what it makes up follows from the seed, and where it is strict it lets nothing pass. */
export function startStandIn(spec: Spec, seed: string, isStrict: boolean): StandIn {
  const sampling = new Sampling(spec, seed);
  return {
    given: new UnmadeRows(spec, sampling),
    forgive: compileForgive(isStrict),
    isLenient: !isStrict,
    asMeant: isStrict ? () => undefined : asMeant,
    // Vendors' clients send keys that their documents do not name; they are taken as the IETF's draft of the header has it.
    usualKey: ({ method, at }) =>
      isStrict || method !== 'POST' ? undefined : { at, header: 'Idempotency-Key', required: false },
    newIdentifier: (work, model) => newIdentifier(sampling, work, model),
    identifierAt: ({ name }, place) => identifierText(sampling.identifier(name, place, 1)),
    completeRow: (work, model, id, fields) => completeRow(sampling, work, model, id, fields),
    makeRow: (work, model, id, given) => makeRow(sampling, work, model, id, given),
    mendRow: (work, model, id, next, before) => mendRow(sampling, work, model, id, next, before),
    keepNames: (rows, model, id, names) => keepNames(rows, model.name, id, names),
    tellRow: (exchange, rows, model, id, names) => tellSampled(exchange, names ?? namesOfRow(rows, model.name, id)),
    tell({ sampled, warnings }, headers) {
      if (sampled) headers['ninefold-sampled'] = sampledHeader(sampled);
      if (warnings) headers['ninefold-warning'] = warningHeader(warnings);
    },
    compileCompletion: (shape, answer, does) => compileCompletion(shape, answer, does, sampling),
    compileStream: (answer, produces) => compileStream(answer, produces, sampling),
    exampleAsked,
    compileErrors: (endpoint) => compileErrorAnswers(endpoint, sampling),
    compilePayload: (shape) => compilePayloadCompletion(shape, sampling),
  };
}
