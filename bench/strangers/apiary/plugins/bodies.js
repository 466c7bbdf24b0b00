import { refuse } from '../keeping/errors.js';
import { broken } from '../keeping/faults.js';
import { plugin } from '../keeping/plugin.js';
import { check } from '../keeping/validate.js';

const takesJson = (accept) =>
  accept === undefined ||
  accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return (
      ['*/*', 'application/*', 'application/json'].includes(type) &&
      !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    );
  });

/** Media types, bodies, and the parameters of the query. */
export const bodies = plugin(async (app) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.decorateRequest('json', undefined);
  app.decorateRequest('parameters', null);

  app.addHook('preParsing', async (request) => {
    const { body, merge, op } = request.routeOptions.config;
    const { headers } = request;
    if (!takesJson(headers.accept) && !(broken('en-accept') && op === 'list yard')) refuse('not_acceptable');
    const type = headers['content-type']?.split(';')[0].trim().toLowerCase();
    const sent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (
      body &&
      sent &&
      type !== 'application/json' &&
      !(merge && type === 'application/merge-patch+json' && !(broken('en-merge-type') && op === 'update harvest'))
    ) {
      if (!(broken('en-media') && op === 'create yard' && type === 'text/plain')) refuse('unsupported_type');
    }
    delete headers['content-type'];
  });

  app.addHook('preValidation', async (request) => {
    const { body, query = {}, list, op } = request.routeOptions.config;
    if (body) request.json = parsed(request.body, body === 'optional');
    request.parameters = parameters(
      new URLSearchParams(request.raw.url.split('?')[1] ?? ''),
      list ? { ...query, page: null, per_page: null } : query,
      request.version,
      op,
    );
    if (list) request.page = pageOf(request.parameters, op);
  });
});

function parsed(buffer, optional) {
  const text = buffer ? new TextDecoder('utf-8', { fatal: true }) : undefined;
  if (!buffer || buffer.length === 0) return optional ? {} : refuse('malformed');
  try {
    return JSON.parse(text.decode(buffer));
  } catch {
    return refuse('malformed');
  }
}

function parameters(sent, stated, version, op) {
  const values = {};
  for (const name of new Set(sent.keys())) {
    const wrong = (expected) => refuse('bad_parameter', { problems: [{ in: 'query', path: name, expected }] });
    if (!Object.hasOwn(stated, name)) {
      if (broken('en-unknown-parameter') && op === 'survey hives') continue;
      wrong('no such parameter');
    }
    const all = sent.getAll(name);
    if (stated[name] === null) {
      values[name] = all.length === 1 ? all[0] : '';
      continue;
    }
    if (all.length > 1) wrong('one value');
    const { spec, up } = stated[name](version);
    const digits = { integer: /^-?\d+$/, number: /^-?\d+(\.\d+)?$/ }[spec.type];
    const value = digits?.test(all[0]) ? Number(all[0]) : all[0];
    const problems = check(spec, value, name);
    if (problems.length > 0) wrong(problems[0].expected);
    values[name] = up(value);
  }
  return values;
}

function pageOf({ page = '1', per_page }, op) {
  const max = broken('li-page-max') && op === 'list yard' ? 100 : 50;
  let size = per_page ?? (broken('li-page-default') && op === 'list yard' ? '20' : '10');
  const bad = (path, expected) => refuse('bad_page', { problems: [{ in: 'query', path, expected }] });
  if (broken('li-page-clamp') && op === 'browse harvests' && Number(size) > max) size = String(max);
  if (!/^\d{1,15}$/.test(page) || (Number(page) < 1 && !(broken('li-page-zero') && op === 'list yard')))
    bad('page', 'a whole number of 1 at least');
  if (!/^\d{1,15}$/.test(size) || Number(size) < 1 || Number(size) > max) bad('per_page', `a whole number of 1 to ${max}`);
  return { page: Number(page), size: Number(size) };
}
