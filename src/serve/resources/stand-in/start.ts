import type { Endpoint } from '../../../parts/endpoints.ts';
import type { Spec } from '../../../parts/spec.ts';
import { madeByAct } from '../../../parts/whole-paths.ts';
import type { Fields } from '../../exchange/exchange.ts';
import type { Work } from '../act.ts';
import { hostAsked } from '../lists/envelope.ts';
import { identifierText, type RowModel } from '../model.ts';
import type { StandIn } from '../stand-in.ts';
import { asMeant, compileCompletion, exampleAsked } from './answers.ts';
import { compileAskedFields, compileCopied, usualKeyOf } from './asked-fields.ts';
import { compileBegunList } from './begun-lists.ts';
import { compileCountOf, compileNamesOf } from './counts.ts';
import { patchedBy } from './json-patch.ts';
import { compileKept } from './kept-answers.ts';
import { compileKeptPair } from './kept-pairs.ts';
import { compileKeptTags } from './kept-tags.ts';
import { compileForgive, compileWithoutNulls, warningHeader } from './leniency.ts';
import { compileOperationTold, operationsPath, toldAsDone } from './long-running.ts';
import { makesEachTime, timesSent } from './made-again.ts';
import { compileMany } from './many-rows.ts';
import { compileAsRouted, compileToldBy } from './meant-paths.ts';
import { compileMemberPath } from './member-paths.ts';
import { compileNarrowing, narrowedRows } from './narrowing.ts';
import { NumberedTimes } from './numbered-times.ts';
import { compileBodyPages, compileOpenPages } from './open-pages.ts';
import { compileOwnThings } from './own-things.ts';
import { compilePageHeaders } from './page-headers.ts';
import { compileErrorAnswers, compilePayloadCompletion, sayWrong } from './refusals.ts';
import { compileRelation, type Relations, relationsOf } from './relations.ts';
import { compileSecretRenewal, exchangesCredential } from './renewed-secrets.ts';
import { completeRow, makeRow, mendRow, newIdentifier, showInOwners } from './sampled-rows.ts';
import { keepNames, namesOfRow, Sampling, sampledHeader, tellSampled } from './sampling.ts';
import { compileStream } from './streams.ts';
import { compileUndescribed } from './undescribed.ts';
import { isRestoring, UnmadeRows } from './unmade-rows.ts';
import { compileUpdateMask } from './update-masks.ts';
import { usualStatusOf } from './usual-statuses.ts';
import { versionAsked } from './version-words.ts';

/** Starts a stand-in: what it makes up follows from the seed, and where it is strict it lets nothing pass; `lend` is told the tokens that it gives out. */
export function startStandIn(
  spec: Spec,
  {
    seedValue = '',
    strict: isStrict = false,
  }: { readonly seedValue?: string | undefined; readonly strict?: boolean | undefined },
  lend: (token: string) => void,
): StandIn {
  const sampling = new Sampling(spec, seedValue);
  const given = new UnmadeRows(spec, sampling);
  return {
    given,
    forgive: compileForgive(isStrict, sampling.samples),
    withoutNulls: compileWithoutNulls(isStrict),
    times: isStrict ? asStated : new NumberedTimes(sampling.shown),
    isLenient: !isStrict,
    exchangesCredential: (endpoint) => !isStrict && exchangesCredential(endpoint, sampling.samples),
    asMeant: isStrict ? () => undefined : asMeant,
    asRouted: isStrict ? () => undefined : compileAsRouted(spec),
    usualKey: (endpoint) => (isStrict ? undefined : usualKeyOf(endpoint, sampling.samples)),
    usualStatus: usualStatusOf,
    newIdentifier: (work, model, fields) => reckonedName(given, work, model, fields) ?? newIdentifier(sampling, work, model),
    identifierAt: ({ name }, place) => identifierText(sampling.identifier(name, place, 1)),
    completeRow: (work, model, id, fields) => completeRow(sampling, work, model, id, fields),
    makeRow: (work, model, id, given) => makeRow(sampling, work, model, id, given),
    mendRow: (work, model, id, next, before) => mendRow(sampling, work, model, id, next, before),
    showInOwners: (work, model, row, isGone) => showInOwners(sampling, work, model, row, isGone),
    keepNames: (rows, model, id, names) => keepNames(rows, model.name, id, names),
    tellRow: (exchange, rows, model, id, names) => tellSampled(exchange, names ?? namesOfRow(rows, model.name, id)),
    tell,
    compileToldBy: (endpoint, model) => compileToldBy(endpoint, model, spec),
    isRestoring,
    makesEachTime: (endpoint) => makesEachTime(endpoint) || madeByAct(spec, endpoint) !== undefined,
    timesSent,
    compileRelation: relationsIn(spec, sampling),
    compileMemberPath: (endpoint, model, depth) => compileMemberPath(endpoint, model, depth, sampling.shown),
    compileUndescribed: (endpoint) => compileUndescribed(endpoint, spec, sampling),
    compileKept: (endpoint) => compileOwnThings(endpoint, spec, sampling.shown, given) ?? keptIn(endpoint, spec, sampling),
    compileOpenPages: (endpoint) => compileOpenPages(endpoint, sampling.shown),
    compileCountOf: (endpoint) => compileCountOf(endpoint, spec, sampling.shown),
    compileNamesOf: (endpoint) => compileNamesOf(endpoint, spec, sampling.shown),
    compileBodyPages: (endpoint) => (isStrict ? undefined : compileBodyPages(endpoint, sampling.samples)),
    compileAskedFields: (endpoint, model) => compileAskedFields(endpoint, model, sampling.samples),
    compileCopied: (endpoint, model) => compileCopied(spec, endpoint, model),
    compileUpdateMask,
    compileSecretRenewal: (endpoint, model) => compileSecretRenewal(endpoint, model, sampling),
    compileMany: (endpoint, models, named) => compileMany(endpoint, models, named, sampling),
    patchedBy,
    compileNarrowing: isStrict ? () => undefined : narrowingIn(sampling, given),
    compileCompletion: completionIn(spec, sampling, lend),
    compilePageHeaders,
    compileStream: (answer, produces) => compileStream(answer, produces, sampling),
    exampleAsked,
    sayWrong,
    compileErrors: (endpoint) => compileErrorAnswers(endpoint, sampling),
    compilePayload: (shape) => compilePayloadCompletion(shape, sampling),
  };
}

function narrowingIn({ samples }: Sampling, given: UnmadeRows): StandIn['compileNarrowing'] {
  return (endpoint, model, paging) =>
    compileNarrowing(endpoint, { ...narrowedRows(model), isUnmade: given.has(model.name) }, paging, samples);
}

/** To the letter: a time is a text. */
const asStated: StandIn['times'] = { hear: (_, __, violations) => violations, told: (_, __, value) => value };

function keptIn(endpoint: Endpoint, spec: Spec, sampling: Sampling) {
  const { shown } = sampling;
  const own = compileKeptTags(endpoint, spec, shown) ?? compileKeptPair(endpoint, spec, shown);
  return own ?? compileKept(endpoint, spec, sampling);
}

function completionIn(spec: Spec, sampling: Sampling, lend: (token: string) => void): StandIn['compileCompletion'] {
  const prefix = operationsPath(spec);
  return (shape, answer, does) =>
    toldAsDone(
      compileCompletion(shape, answer, does, sampling, lend),
      compileOperationTold(prefix, shape, does, sampling),
      shape,
    );
}

/** Compiles what stands below things; what is bound to others is looked for when it is first needed. */
function relationsIn(spec: Spec, { shown }: Sampling): StandIn['compileRelation'] {
  let relations: Relations | undefined;
  return (endpoint, owner, depth) => {
    relations ??= relationsOf(spec, shown);
    return compileRelation(endpoint, owner, depth, relations, shown) ?? compileBegunList(endpoint, owner, depth, spec, shown);
  };
}

/** What a thing is called by what it has; nothing where another one is called so. */
function reckonedName({ reckoned }: UnmadeRows, { rows }: Work, model: RowModel, fields: Fields | undefined): string | undefined {
  const name = fields && reckoned.nameOf(model, fields);
  return name === undefined || rows.get(model.name, name) ? undefined : name;
}

const tell: StandIn['tell'] = ({ sampled, warnings, call }, headers) => {
  // Some clients follow nothing but whole addresses, and add nothing to them.
  if (headers.location?.startsWith('/')) headers.location = `${hostAsked(call)}${headers.location}${versionAsked(call.query)}`;
  if (sampled) headers['ninefold-sampled'] = sampledHeader(sampled);
  if (warnings) headers['ninefold-warning'] = warningHeader(warnings);
};
