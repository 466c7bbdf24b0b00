import type { Json } from '../../src/index.ts';
import type { TrialCaller } from '../../src/verify/exchange/callers.ts';
import type { TrialExchange } from '../../src/verify/exchange/exchange.ts';
import type { Model } from '../../src/verify/model/model.ts';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly caller?: TrialCaller;
  readonly path?: Readonly<Record<string, Json>>;
  readonly query?: Readonly<Record<string, Json>>;
  readonly json?: Json;
}

/** An exchange with an endpoint as a run records it, without anybody having sent it. */
export function answered(model: Model, key: string, answer: Answer = {}): TrialExchange {
  const { status = 200, headers = { 'content-type': 'application/json' }, body, caller, path = {}, query = {}, json } = answer;
  const endpoint = model.endpoints.find((one) => one.key === key);
  const [method = 'GET', template = ''] = key.split(' ');
  const target = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(path[name] ?? name));
  return {
    ...(endpoint && { endpoint }),
    ...(caller && { caller }),
    sent: { method, target, headers: {}, path, query, ...(json !== undefined && { json, text: JSON.stringify(json) }) },
    status,
    headers,
    body,
    text: body === undefined ? '' : JSON.stringify(body),
    fromMs: 0,
    toMs: 1,
  };
}
