/** What is set by one act of a thing and told by another: `POST /things/{id}:setPolicy` and `:getPolicy`. */

import { createHash } from 'node:crypto';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Fields } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { KeptAnswer } from '../stand-in.ts';
import { keepAt, keptAt } from './kept-answers.ts';

/**
 * Compiles the keeping of what an act called `setX` sends, whole or in the member that has the shape of the answer, for the act called `getX` of the same
 * thing; nothing where there are not both, or they answer with different things. Until something is set, lists of it are empty.
 */
export function compileKeptPair(endpoint: Endpoint, spec: Spec, samples: Samples): KeptAnswer | undefined {
  const own = actIn(endpoint);
  if (!own) return undefined;
  const others = entriesOf(spec.endpoints.all).flatMap(([, one]) => {
    const act = one === endpoint ? undefined : actIn(one);
    return act?.word === own.word && act.at === own.at && act.isSetting !== own.isSetting ? [one] : [];
  });
  const [other] = others;
  const told = answerOf(endpoint);
  if (!other || told?.resource === undefined || answerOf(other)?.resource !== told.resource) return undefined;
  const request = statedValue((own.isSetting ? endpoint : other).request);
  const members = request ? Object.entries(samples.membersOf(request)) : [];
  const isWhole = request?.resource === told.resource;
  const [holder] = members.find(([, one]) => isPlainMap(one) && one.resource === told.resource) ?? [];
  if (!isWhole && holder === undefined) return undefined;
  const empty = emptyLists(told, samples);
  const etag = Object.keys(samples.membersOf(told)).find((name) => /^etag$/i.test(name));
  return {
    sent({ rows }, { call }) {
      const { fields, isThere } = keptAt(rows, placeOf(call.path));
      return isThere === true ? fields : empty;
    },
    listed: () => undefined,
    keep({ rows }, { call, request: sent }) {
      const set = !isFields(sent) ? undefined : holder === undefined ? sent : sent[holder];
      if (!own.isSetting || !isFields(set)) return;
      const fields = {
        ...empty,
        ...set,
        ...(etag !== undefined && { [etag]: tagOf(keptAt(rows, placeOf(call.path)).fields, set) }),
      };
      keepAt(rows, placeOf(call.path), { fields, items: [], isThere: true });
    },
  };
}

/** Another tag each time that something is set, in base64 as bytes are. */
function tagOf(before: Fields, set: Fields): string {
  return createHash('sha256')
    .update(toJson([before, set]))
    .digest('base64')
    .slice(0, 12);
}

interface PairedAct {
  readonly isSetting: boolean;
  /** What is set or told: `Policy`. */
  readonly word: string;
  /** The path before it, whatever its parameters are called. */
  readonly at: string;
}

/** What an act that is asked for by POST, GET or PUT sets or gets, and of nothing else is known. */
function actIn({ does, path }: Endpoint): PairedAct | undefined {
  const [, at = '', verb, word = ''] = /^(.+)[:/](get|set)_?([A-Z]\w*)$/.exec(path.replace(/[?#].*$/, '')) ?? [];
  if (verb === undefined || statedValue(does) !== undefined) return undefined;
  return { isSetting: verb === 'set', word, at: at.replaceAll(/\{[^{}]*\}/g, '{}') };
}

/** Where it is kept: the path without which of the two is asked. */
function placeOf(path: string): string {
  return path.replace(/([:/])(?:get|set)_?(?=[A-Z]\w*$)/, '$1');
}

function answerOf({ response }: Endpoint): Shape | undefined {
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  return answer && isStated(answer.shape) ? answer.shape.value : undefined;
}

function emptyLists(shape: Shape, samples: Samples): Fields {
  const members = Object.entries(samples.membersOf(shape));
  return Object.fromEntries(
    members.flatMap(([name, one]) => (isPlainMap(one) && samples.whole(one).type === 'array' ? [[name, []]] : [])),
  );
}
