import { below } from '../../document/pointer.ts';
import { schemeKind } from '../../kinds/schemes/all.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { isCut, pageRowsMost } from '../../parts/limits.ts';
import { callableOperations, namesOperation } from '../../parts/operations.ts';
import { type Rule, type Wrong, warning } from '../subject/rule.ts';
import { callerRules, isPlain } from './callers.ts';
import { dataRules, logSecurityRules } from './data.ts';

/** What a reviewer asks of how much strangers can use up. */
const boundsRules: readonly Rule[] = [
  warning(
    'security/no-rate',
    'Nothing says how often somebody may ask.',
    'State `limits.rate`: `{ per: caller, limit: 600, window: 1m }` and one per address.',
    ({ spec: { limits } }) => {
      const rates = statedValue(limits.rate) ?? [];
      if (rates.some(({ per }) => per === 'caller' || per === 'address')) return [];
      return [{ message: rates.length === 0 ? 'There is no rate.' : 'No rate is per caller or address.', at: limits.rate.at }];
    },
  ),
  warning(
    'security/no-login-rate',
    'Passwords may be guessed as fast as they are hashed: nothing counts those who fail.',
    'State a rate `per: address`, which counts failed logins too.',
    ({ spec: { limits, authentication } }) => {
      const rates = statedValue(limits.rate) ?? [];
      if (rates.some(({ per, on }) => per === 'address' && on === undefined)) return [];
      return entriesOf(authentication.schemes).flatMap(([name, { type, at }]) =>
        schemeKind(type)?.proof?.by === 'password'
          ? [{ message: `Who guesses a password of \`${name}\` is counted by nothing that is stated.`, at, onKey: true }]
          : [],
      );
    },
  ),
  warning(
    'security/used-up-by-strangers',
    'What everybody shares can be used up by somebody without a credential.',
    'Take `before` out, or let a rate for everyone count only operations that need a credential.',
    strangersUseUp,
  ),
  warning(
    'security/no-size',
    'Nothing says how large a body may be; 1 MiB stands in for it.',
    'State `limits.size: { body: 64KiB }`.',
    ({ spec: { limits, endpoints } }) => {
      const takesBodies = entriesOf(endpoints.all).some(([, { method }]) => ['POST', 'PUT', 'PATCH'].includes(method));
      if (!takesBodies || statedValue(limits.size)?.body !== undefined) return [];
      return [{ message: 'Bodies have no size.', at: limits.size.at }];
    },
  ),
  warning(
    'security/no-time-out',
    'Nothing says how long a request may take; handlers may take any time.',
    'State `limits.timeout: { request: 10s, idle: 60s }`.',
    ({ spec: { limits } }) =>
      statedValue(limits.timeout)?.requestMs === undefined ? [{ message: 'Requests have any time.', at: limits.timeout.at }] : [],
  ),
  warning(
    'security/unbounded-page',
    'A page may be as large as its caller asks, or so large that others wait while it is made.',
    'State `max` under `pagination`, 10,000 or less.',
    ({ spec: { limits, endpoints } }) => {
      const own = entriesOf(endpoints.all).map(([, { pagination }]) => pagination && statedValue(pagination));
      return [statedValue(limits.pagination), ...own].flatMap((style): Wrong[] => {
        if (!isCut(style)) return [];
        if (style.max === undefined) return [{ message: 'Pages have no greatest size.', at: style.at }];
        if (style.max <= pageRowsMost) return [];
        return [{ message: `A page may have ${style.max.toLocaleString('en')} rows, which are made at once.`, at: style.at }];
      });
    },
  ),
  warning(
    'security/trusts-everybody',
    'Whoever asks may say from which address it comes, so that rates per address count nothing.',
    'Name the addresses of your proxies alone.',
    ({ spec: { limits } }) =>
      (statedValue(limits.trustProxies) ?? []).flatMap((word, index) =>
        /\/[0-7]$/.test(word) ? [{ message: `\`${word}\` is nearly everybody.`, at: below(limits.trustProxies.at, index) }] : [],
      ),
  ),
  warning(
    'security/plain-address',
    'The service is reached without encryption: whoever stands between reads credentials.',
    'Write `https:`, and let a proxy in front hold the certificate.',
    ({ spec: { purpose } }) => {
      const urls = statedValue(purpose.baseUrls) ?? [];
      return urls.filter(isPlain).map((url): Wrong => ({ message: `\`${url}\` is not encrypted.`, at: purpose.baseUrls.at }));
    },
  ),
];

function strangersUseUp({ spec }: Parameters<Rule['find']>[0]): Wrong[] {
  const { authentication, limits } = spec;
  if (!isStated(authentication.schemes)) return [];
  const rules = statedValue(authentication.permissions) ?? [];
  const operations = callableOperations(spec).filter(({ endpoint }) => endpoint !== undefined);
  const open = new Set(
    operations.filter(
      (one) =>
        namesOperation(authentication.public, one) ||
        rules.some(({ allow, to }) => (to === 'anyone' || to.includes('anyone')) && namesOperation(allow, one)),
    ),
  );
  return (statedValue(limits.rate) ?? []).flatMap(({ at, per, on, to, isBeforeCredentials }) => {
    if (per !== 'everyone') return [];
    if (isBeforeCredentials) return [{ message: 'Requests with bad credentials use it up for all.', at: below(at, 'before') }];
    const counted = operations.filter(
      (one) => (on === undefined || namesOperation(on, one)) && (to === undefined || to.includes('anyone')),
    );
    const strangers = counted.filter((one) => open.has(one));
    if (strangers.length === 0 || strangers.length === counted.length) return [];
    return [{ message: `\`${strangers[0]?.name}\` needs no credential, and uses it up for those who have one.`, at }];
  });
}

/** What a reviewer would ask of a document, beyond what contradicts itself in it: each may be meant, and is waived with a reason then. */
export const securityRules: readonly Rule[] = [...callerRules, ...boundsRules, ...dataRules, ...logSecurityRules];
