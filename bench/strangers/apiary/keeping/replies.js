import { etagOf } from './etags.js';
import { broken } from './faults.js';
import { MODEL } from './model.js';
import { present, viewOf } from './versions.js';

export const BASE = '/api';
const same = (value) => value;

/** A parameter of the name and shape of a field. */
export const like = (resource, field) => (version) => viewOf(resource, version).get(field);
/** A parameter with a shape of its own. */
export const of = (spec) => () => ({ spec, up: same });

/** The answers of the service, for the caller and the version of a request. */
export function repliesFor({ store }) {
  const shown = (request, resource, row, more) =>
    present(store, resource, row, { ...request.caller, version: request.version, ...more });

  return {
    shown,
    /** 201 with where it is, as it is told now and as it is told again. */
    made: (request, resource, row) => ({
      status: broken('en-created-200') && resource === 'inspection' ? 200 : 201,
      headers:
        MODEL[resource].path && !(broken('en-location') && resource === 'treatment')
          ? { location: `${BASE}${MODEL[resource].path}/${row.id}` }
          : {},
      body: shown(request, resource, row, { once: true }),
      again: shown(request, resource, row),
    }),
    tagged(request, reply, resource, row) {
      const body = shown(request, resource, row);
      const tag = etagOf(body);
      if (!(broken('en-etag-missing') && resource === 'harvest')) reply.header('etag', tag);
      const known = request.headers['if-none-match'];
      if (known !== undefined && (known.trim() === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)))
        return reply.code(304).send();
      return reply.send(body);
    },
    /** One page of rows, in the order of `by`: [field, -1] is the greatest first, ties by creation. */
    page(request, resource, rows, [field, sign = 1] = []) {
      const value = (row) => row[field];
      const order = field ? rows.toSorted((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0)) : rows;
      const { page, size } = request.page;
      const start = (page - (broken('li-page-zero') && resource === 'yard' ? 0 : 1)) * size;
      const end = start + size;
      return {
        rows: order.slice(start, end).map((row) => shown(request, resource, row)),
        total: broken('li-total') && resource === 'yard' ? Math.min(size, order.length) : order.length,
        more: broken('li-more') && resource === 'yard' ? end <= order.length : end < order.length,
      };
    },
  };
}

/** `-number` as a field and a sign. */
export const sorting = (text, otherwise) => {
  if (text === undefined) return otherwise;
  return text.startsWith('-') ? [text.slice(1), broken('en-sort-down') && text === '-weight_g' ? 1 : -1] : [text, 1];
};
