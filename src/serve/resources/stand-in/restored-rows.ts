import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Row } from '../../../store/store.ts';
import type { Fields } from '../../exchange/exchange.ts';
import { parseStored, toJson } from '../../http/json.ts';
import type { Work } from '../act.ts';
import { insertRow } from '../create.ts';
import type { RowModel } from '../model.ts';

/** So long a row is kept for when it is brought back, as JSON. */
const keptLengthMost = 64 * 1024;

/** Rows that are brought back after their deletion: those of resources of which the document has an act that is called so. */
export class RestoredRows {
  readonly #resources: ReadonlySet<string>;

  constructor(spec: Spec) {
    const endpoints = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
    const acts = new Set(endpoints.filter(isRestoring).map(({ path }) => plain(path).replace(/\/[^/]*$/, '')));
    const resources = endpoints.flatMap(({ does, path }) => {
      const effect = statedValue(does);
      return effect?.verb === 'delete' && acts.has(plain(path)) ? [effect.resource] : [];
    });
    this.#resources = new Set(resources);
  }

  /** What is kept of a row that is gone: nothing where nothing brings it back. */
  kept({ name }: RowModel, fields: Fields): string {
    if (!this.#resources.has(name)) return '';
    const body = toJson(fields);
    return body.length > keptLengthMost ? '' : body;
  }

  /** The row that was kept so, there again. */
  back(work: Work, model: RowModel, id: string, kept: string): Row | undefined {
    if (kept === '' || !this.#resources.has(model.name)) return undefined;
    insertRow(work, model, id, parseStored(kept), `restore ${model.name}`);
    return work.rows.get(model.name, id);
  }
}

/** Whether an act brings back what was deleted: `POST /things/{id}/restore`. */
export function isRestoring({ method, path }: Pick<Endpoint, 'method' | 'path'>): boolean {
  return (
    (method === 'POST' || method === 'PUT') &&
    /\/\{[^{}/]+\}[/:](?:actions\/)?(?:restore|recover|reinstate|un-?delete|un-?trash)$/i.test(plainly(path))
  );
}

const plainly = (path: string): string => path.replace(/[?#].*$/, '');

/** A path whatever its parameters are called. */
const plain = (path: string): string =>
  plainly(path)
    .replaceAll(/\{[^{}]*\}/g, '{}')
    .replace('/actions/', '/');
