import type { Reader } from '../../store/store.ts';
import type { Exchange } from '../exchange.ts';
import type { Outcome, Work } from './act.ts';
import type { Locator } from './locate.ts';

/** Reads one row. */
export function readOne(locator: Locator): (work: Work<Reader>, exchange: Exchange) => Outcome {
  return (work, exchange) => {
    const found = locator.find(work, exchange);
    return 'refusal' in found ? found : { did: 'read', row: found.row, fields: found.fields };
  };
}
