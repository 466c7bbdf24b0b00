import type { Caller } from '../../src/serve/exchange/exchange.ts';
import { type Answered, type Tried, type TriedOptions, tryService } from './tried.ts';

/** A service that is told who calls; nobody = a caller that shows nothing. */
export interface ToldService extends Tried {
  as(
    caller: Caller | undefined,
    method: string,
    target: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered>;
}

const header = 'told-caller';

export async function tellService(text: string, options: TriedOptions = {}): Promise<ToldService> {
  const identify: TriedOptions['identify'] = ({ headers }) =>
    headers[header] === undefined ? undefined : (JSON.parse(String(headers[header])) as Caller);
  const tried = await tryService(text, { ...options, identify });
  return {
    ...tried,
    as: (caller, method, target, body, headers = {}) =>
      tried.send(method, target, { headers: { ...headers, ...(caller && { [header]: JSON.stringify(caller) }) }, body }),
  };
}

/** A caller without scopes. */
export function caller(user: string, id: string, scopes: readonly string[] = []): Caller {
  return { id, user, scopes };
}
