import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Deprecation, Version } from '../../../parts/versioning.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { refuseIn } from '../../make/refused-in-version.ts';
import {
  deprecationFlaw,
  doorOf,
  inVersion,
  isAnsweredAs,
  isOver,
  isToldOver,
  type RequestVersions,
  saysDeprecated,
  type VersionRefusal,
  versionsOf,
} from '../../make/versions.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

const identifiersFact: FactName = { kind: 'version identifiers', subject: 'service' };

const selectionFact: FactName = { kind: 'version selection', subject: 'service' };

/** Every version is asked for, one that there is not, and none. */
export const selecting: Trial = {
  name: 'versioning/selected',
  part: 'versioning',
  about:
    'Listed versions are served and named, others refused; what is deprecated says so; what is over is gone; no version is the default one.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    const versions = versionsOf(model);
    if (!versions) {
      if (statedValue(model.spec.versioning.select)?.by === 'pin') yield pinnedCase(model);
      return;
    }
    for (const version of versions.all) yield versionCase(model, versions, version);
    for (const name of unlisted(model, versions)) yield unknownCase(model, name);
    yield defaultCase(model, versions);
    yield guaranteeCase();
  },
};

function versionCase(model: Model, versions: RequestVersions, version: Version): Case {
  const rules: FactName = { kind: 'deprecation rules', subject: version.name };
  return {
    name: `in ${version.name}`,
    facts: [rules, identifiersFact, selectionFact],
    async run(session: Session) {
      const door = doorOf(model);
      session.need(door !== undefined, 'no operation can be asked in every version');
      const { endpoint, operation, caller } = door;
      const control = model.request(endpoint, { caller });
      const { endpoint: _endpoint, ...plan } = inVersion(model, control, version.name);
      // What every answer of an endpoint is held to is the newest shape.
      const done = await session.send(version.name === versions.history.current ? { ...plan, endpoint } : plan);
      const is = (seen: TrialExchange, when: VersionRefusal) => isAnsweredAs(model, operation, when, seen);
      const asked = `${operation.name} in ${version.name}`;
      session.claim({
        fact: rules,
        reason: 'sunset',
        of: [done],
        control,
        judge: (seen: TrialExchange): Judgement => {
          const over = isOver(version, seen.toMs);
          const { sunset, isAnnouncedOnly } = statedValue(version.deprecation) ?? {};
          if (over === undefined) return moot('its last day is about now');
          const promised = `${asked} is ${standingOf(version, over)}`;
          if (isAnnouncedOnly && !isDone(seen)) return { promised, seen: `it was answered ${seen.status}` };
          const isSaid = over ? isToldOver(model, operation, seen) : is(seen, 'version.sunset');
          if (over !== isSaid) return { promised, seen: `it was answered ${seen.status}` };
          return over || sunset !== undefined ? undefined : moot('it has no last day');
        },
      });
      if (isOver(version, done.value.toMs))
        claimRefusedAs(session, done, { by: { when: 'version.sunset' }, what: asked, control });
      session.claim({
        fact: identifiersFact,
        reason: 'listed',
        of: [done],
        control,
        judge: (seen: TrialExchange): Judgement => {
          if (is(seen, 'version.unknown') && !is(seen, 'version.sunset'))
            return { promised: `${version.name} is listed, and served`, seen: `it was answered ${seen.status}` };
          return isDone(seen) || is(seen, 'version.sunset') ? undefined : moot('it was refused for something else');
        },
      });
      session.claim({
        fact: selectionFact,
        reason: 'named',
        of: [done],
        judge: (seen: TrialExchange) => nameJudgement(model, version.name, seen),
      });
      session.claim({
        fact: rules,
        reason: 'told',
        of: [done],
        judge: (seen: TrialExchange) => toldJudgement(model, endpoint, version, seen),
      });
      if (statedValue(version.deprecation)?.deprecated !== undefined) await refuseIn(session, version, rules);
    },
  };
}

/** How a version stands, in words. */
function standingOf({ deprecation }: Version, isOver: boolean): string {
  const { sunset, isAnnouncedOnly } = statedValue(deprecation) ?? {};
  if (isOver) return `gone since ${sunset}: \`version.sunset\``;
  return `served${isAnnouncedOnly ? ', though its end is announced' : sunset === undefined ? '' : ` until ${sunset}`}`;
}

const outlandish = 'ninefold-verify';

/** Versions that are not listed: one like none that is and, where a name is no part of a path, the next after the first and after the last. */
function unlisted({ spec }: Model, { all }: RequestVersions): string[] {
  const names = all.map(({ name }) => name);
  const by = statedValue(spec.versioning.select)?.by;
  const next = by === 'path' ? [] : [names[0], names.at(-1)].flatMap((name) => nextAfter(name ?? '') ?? []);
  return [outlandish, ...new Set([...next, ...inOtherLetters(names.at(-1) ?? '')])].filter((name) => !names.includes(name));
}

/** A name with its letters in the other case, where it has any. */
function inOtherLetters(name: string): string[] {
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
  return other === name ? [] : [other];
}

/** The day after a name that is a date, or a name whose last number is one more. */
function nextAfter(name: string): string | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(name)) {
    const ms = Date.parse(name);
    return Number.isNaN(ms) ? undefined : new Date(ms + 86_400_000).toISOString().slice(0, 10);
  }
  const [, before, digits] = /^(.*?)(\d{1,15})$/.exec(name) ?? [];
  return digits === undefined ? undefined : `${before}${String(Number(digits) + 1).padStart(digits.length, '0')}`;
}

function unknownCase(model: Model, name: string): Case {
  return {
    name: name === outlandish ? 'in a version that there is not' : `in ${name}, which there is not`,
    facts: [selectionFact],
    async run(session: Session) {
      const door = doorOf(model);
      session.need(door !== undefined, 'no operation can be asked in every version');
      session.need(model.spec.versioning.others === undefined, 'there are other versions than the listed ones');
      const { endpoint, operation, caller } = door;
      const control = model.request(endpoint, { caller });
      const { endpoint: _endpoint, ...plan } = inVersion(model, control, name);
      const done = await session.send(plan);
      claimRefusedAs(session, done, { by: { when: 'version.unknown' }, what: 'a version that there is not', control });
      session.claim({
        fact: selectionFact,
        reason: 'unknown',
        of: [done],
        control,
        judge: (seen: TrialExchange): Judgement => {
          const refusal = refusalFor(model, 'version.unknown', operation);
          const isGood = refusal ? isRefused(model, seen) && isRefusal(model, seen, refusal) : isRefused(model, seen);
          const wanted = refusal?.status === undefined ? 'refused' : `${refusal.status} (${refusal.code})`;
          return isGood
            ? undefined
            : { promised: `a version that is not listed is ${wanted}`, seen: `it was answered ${seen.status}` };
        },
      });
    },
  };
}

function defaultCase(model: Model, { all, history }: RequestVersions): Case {
  const select = statedValue(model.spec.versioning.select);
  return {
    name: 'in no version',
    facts: [selectionFact],
    async run(session: Session) {
      const door = doorOf(model);
      session.need(door !== undefined, 'no operation can be asked in every version');
      session.need(select?.default !== 'pinned', 'to what a key is pinned was decided by its first call');
      const { endpoint, operation, caller } = door;
      const { endpoint: _endpoint, ...plan } = inVersion(model, model.request(endpoint, { caller }), undefined);
      const done = await session.send(plan);
      const usual = select?.default === 'oldest' ? all[0]?.name : history.current;
      session.claim({
        fact: selectionFact,
        reason: 'default',
        of: [done],
        judge: (seen: TrialExchange): Judgement => {
          const unknown = refusalFor(model, 'version.unknown', operation);
          const isUnknown = unknown !== undefined && isRefused(model, seen) && isRefusal(model, seen, unknown);
          // What stands in the place of a version in a path may be no version, or no path at all.
          const mayBeNoPath = select?.by === 'path' && isRefused(model, seen);
          if (select?.default === 'none')
            return isUnknown || mayBeNoPath || (!unknown && isRefused(model, seen))
              ? undefined
              : { promised: 'a request has to say its version', seen: `it was answered ${seen.status}` };
          if (isUnknown)
            return { promised: `a request that says no version is in ${usual}`, seen: `it was answered ${seen.status}` };
          const named = select?.by === 'header' ? seen.headers[select.carrier.toLowerCase()] : undefined;
          if (named === undefined) return moot('the answer does not name its version');
          return named === usual
            ? undefined
            : { promised: `a request that says no version is in ${usual}`, seen: `${select?.carrier}: ${named}` };
        },
      });
    },
  };
}

/** Where no request can name its version, each caller is in the one of its first call, which was made long ago. */
function pinnedCase(model: Model): Case {
  const rules = entriesOf(model.spec.versioning.versions).map(([subject]) => ({ kind: 'deprecation rules', subject }));
  return {
    name: 'pinned',
    facts: [selectionFact, identifiersFact, ...rules],
    async run() {
      throw new Untestable('no request can name its version, and to which one a caller is pinned was decided by its first call');
    },
  };
}

function guaranteeCase(): Case {
  return {
    name: 'the guarantee',
    facts: [{ kind: 'compatibility guarantees', subject: 'service' }],
    async run() {
      throw new Untestable('it is a promise about later documents: compare two of them');
    },
  };
}

/** An answer names its version by the header that chooses one, and varies with it. */
function nameJudgement(model: Model, version: string, seen: TrialExchange): Judgement {
  const select = statedValue(model.spec.versioning.select);
  if (select?.by !== 'header' || !isDone(seen)) return moot('no header names it, or it was refused');
  const named = seen.headers[select.carrier.toLowerCase()];
  // That an answer names it at all is nowhere stated.
  if (named === undefined) return moot('the answer does not name its version');
  return named === version ? undefined : { promised: `an answer names its version: ${select.carrier}: ${version}`, seen: named };
}

/** A version that is deprecated says so in its answers, and one that is not does not. */
function toldJudgement(model: Model, endpoint: Endpoint, version: Version, seen: TrialExchange): Judgement {
  if (!isDone(seen)) return moot('it was refused');
  const stated = statedValue(version.deprecation);
  if (stated) {
    const flaw = deprecationFlaw([stated, ...(endpoint.deprecated ? [endpoint.deprecated] : [])], seen.headers);
    return flaw === undefined
      ? undefined
      : { promised: `${version.name} tells of its deprecation: ${described(stated)}`, seen: flaw };
  }
  // Something else about the answer may be deprecated.
  if (version.deprecation.standing !== 'none' || /"deprecated"/.test(JSON.stringify(model.spec.document.tree.resources ?? {})))
    return moot('it is not stated');
  if (endpoint.deprecated || JSON.stringify(endpoint.parameters).includes('"deprecated"')) return moot('its endpoint is');
  return saysDeprecated(seen.headers)
    ? {
        promised: `${version.name} is not deprecated`,
        seen: `Deprecation: ${seen.headers.deprecation ?? 'none'}, Sunset: ${seen.headers.sunset ?? 'none'}`,
      }
    : undefined;
}

function described({ deprecated, sunset, link }: Deprecation): string {
  return Object.entries({ deprecated, sunset, link })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
    .join(', ');
}
