import { plainName } from '../../../document/nearest.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { inOnePiece, pageStyles } from '../../../kinds/pages/all.ts';
import type { AskedFor, PageStyle } from '../../../kinds/pages/kind.ts';
import type { SourceOperation, SourceParameter } from '../read/operation.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint } from './context.ts';

/** `limit` and `starting_after`, `page` and `per_page`, `cursor`: by which parameters a list is asked for its next page. */
export const pageParameters: InferenceRule = {
  name: 'page-parameters',
  says: 'Parameters with the usual names ask for the next page of a list, and say how many rows it holds; their bounds are its bounds, and the first page is the one that is taken where none is asked for, if that is said, else the least. What takes a moment (`after` of a date) narrows a list and asks for no page. `start`, `startAt`, `startIndex`, `record_index`, `from` and `first` do where they take a whole number beside one that says how many rows a page has; one of these and `offset` whose first value is 1 says which row is the first; so does `token` that takes a text there and need not be sent, where the answer has a field for the next one.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      if (typeof endpoint.does !== 'string' || !endpoint.does.startsWith('list ') || endpoint.pagination !== undefined) continue;
      const style = pageStyleOf(context, operation, false);
      if (style.style === inOnePiece.word) continue;
      endpoint.pagination = style;
      context.trail.infer(below(placeOfEndpoint(operation), 'pagination'), pageParameters.name, operation.map.at, 0.8);
    }
  },
};

/** The style of pages that the parameters of a list speak of, with their names. */
export function pageStyleOf(context: InferenceContext, operation: SourceOperation, hasNext: boolean): OpenMap {
  const queries = operation.parameters.flatMap((parameter) => namesOf(context, operation, parameter));
  // What takes a moment narrows a list, whatever it is called: `after`, `from`, `since`.
  const named = (names: ReadonlySet<string>) =>
    queries.find(({ name }) => names.has(plainName(name)) && !takesMoment(context, operation, name));
  const asked: AskedFor = {
    named: (word) => named(usualNames.get(word) ?? new Set())?.name,
    startsAtNought: (name) => startsAt(context, operation, name, 0),
    startsAtOne: (name) => startsAt(context, operation, name, 1),
    hasNext,
    takesOpaque: (name) => takesOpaque(context, operation, name),
    takesText: (name) => takesText(context, operation, name),
    counts: (names) => besideSize(context, operation, queries, names, (name) => isCount(context, operation, name)),
    leads: (names) =>
      besideSize(
        context,
        operation,
        queries,
        names,
        (name) => takesText(context, operation, name) && !isRequired(context, operation, name),
      ),
  };
  const style: OpenMap = newMap();
  for (const { word, recognise } of pageStyles as readonly PageStyle[]) {
    const names = recognise(asked);
    if (names === undefined) continue;
    const others = queries.filter(({ name }) => !Object.values(names).includes(name));
    const size = others.find(({ name }) => sizes.has(plainName(name))) ?? sizeBeside(context, operation, others, names);
    return Object.assign(
      style,
      { style: word, ...names },
      tellsByLink(operation) && { told: hasNext ? 'both' : 'link' },
      size && { size: size.name, ...boundsOf(context, operation, size.name) },
    );
  }
  style.style = inOnePiece.word;
  return style;
}

/** How a list is asked for its next page that names how many rows a page has, and whose answers lead on by an address alone: by a word of our own in it. */
export function pageStyleLinked(context: InferenceContext, operation: SourceOperation): OpenMap | undefined {
  const style = (pageStyles as readonly PageStyle[]).find(({ tells }) => tells === 'token');
  const word = style?.parameters[0]?.word;
  const size = operation.parameters
    .flatMap((parameter) => namesOf(context, operation, parameter))
    .find(({ name }) => sizes.has(plainName(name)));
  if (!style || word === undefined || !size) return undefined;
  return Object.assign(newMap(), {
    style: style.word,
    [word]: word,
    size: size.name,
    ...boundsOf(context, operation, size.name),
  });
}

/** Whether an answer of success states a `Link` header (RFC 8288), by which the next page is told. */
function tellsByLink({ responses }: SourceOperation): boolean {
  return responses.some(({ status, headers }) => /^2/.test(status) && headers.some(({ name }) => /^link$/i.test(name)));
}

/** The names that each parameter of a style has in the documents of others, by its word. */
const usualNames: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (pageStyles as readonly PageStyle[]).flatMap(({ parameters }) => parameters.map((one) => [one.word, new Set(one.usualNames)])),
);

function startsAt(context: InferenceContext, operation: SourceOperation, name: string, first: number): boolean {
  const shape = shapeOf(context, operation, name);
  // What is taken without one is the first page, whatever else passes.
  if (isMap(shape) && typeof shape.default === 'number') return shape.default === first;
  return context.written.expand(shape).minimum === first;
}

/** Whether a parameter takes what nobody but the service can read; where its shape is that of an identifier, it is one of a row. */
function takesOpaque(context: InferenceContext, operation: SourceOperation, name: string): boolean {
  const { pattern, maxLength } = context.written.expand(shapeOf(context, operation, name));
  const isRoomy = typeof maxLength !== 'number' || maxLength >= 256;
  return pattern === undefined && isRoomy;
}

function takesText(context: InferenceContext, operation: SourceOperation, name: string): boolean {
  return context.written.typeOf(shapeOf(context, operation, name)) === 'string';
}

function takesMoment(context: InferenceContext, operation: SourceOperation, name: string): boolean {
  const { format } = context.written.expand(shapeOf(context, operation, name));
  return /^(?:date|time|unix)/.test(String(format ?? ''));
}

/** The names that a parameter has in a query: its own, or those of the properties that it is exploded into. */
function namesOf(
  context: InferenceContext,
  operation: SourceOperation,
  { in: place, name, style, explode }: SourceParameter,
): { readonly name: string }[] {
  if (place !== 'query' && place !== 'header') return [];
  const isExploded = place === 'query' && (style ?? 'form') === 'form' && explode !== false;
  const properties = isExploded ? context.written.propertiesOf(shapeOf(context, operation, name)) : undefined;
  return properties === undefined ? [{ name }] : Object.keys(properties.all).map((property) => ({ name: property }));
}

const sizes: ReadonlySet<string> = new Set([
  ...['limit', 'pagesize', 'perpage', 'maxresults', 'size', 'count', 'top', 'first'],
  ...['rows', 'take', 'pagelen', 'itemsperpage', 'resultsperpage', 'maxrecords'],
]);

/** Words that say how many rows a page has beside one that says where it begins, and elsewhere may say anything. */
const sizesBeside: ReadonlySet<string> = new Set(['max', 'length', 'num', 'results', 'maxitems']);

/** The parameter with one of these names that is meant, where another one says how many rows a page has. */
function besideSize(
  context: InferenceContext,
  operation: SourceOperation,
  queries: readonly { readonly name: string }[],
  names: readonly string[],
  isMeant: (name: string) => boolean,
): string | undefined {
  const own = names.flatMap((name) => queries.find((one) => plainName(one.name) === name && isMeant(one.name)) ?? []);
  return own.find(({ name }) =>
    queries.some(
      (other) =>
        other.name !== name &&
        (sizes.has(plainName(other.name)) || sizesBeside.has(plainName(other.name))) &&
        isCount(context, operation, other.name),
    ),
  )?.name;
}

function isRequired(context: InferenceContext, operation: SourceOperation, name: string): boolean {
  const { parameters } = endpointOf(context, operation);
  const parameter = isMap(parameters) ? parameters[name] : undefined;
  return isMap(parameter) && parameter.required === true;
}

/** What says how many rows a page has in a word that says so only beside the one that such pages are asked for by. */
function sizeBeside(
  context: InferenceContext,
  operation: SourceOperation,
  others: readonly { readonly name: string }[],
  names: object,
): { readonly name: string } | undefined {
  const isNumbered = Object.values(names).every((name) => isCount(context, operation, String(name)));
  return isNumbered
    ? others.find(({ name }) => sizesBeside.has(plainName(name)) && isCount(context, operation, name))
    : undefined;
}

function isCount(context: InferenceContext, operation: SourceOperation, name: string): boolean {
  return context.written.typeOf(shapeOf(context, operation, name)) === 'integer';
}

/** How many rows a page holds where nothing is asked for, and at the most, where the parameter's own shape says so. */
function boundsOf(context: InferenceContext, operation: SourceOperation, name: string): OpenMap {
  const bounds: OpenMap = newMap();
  const shape = shapeOf(context, operation, name);
  const usual = isMap(shape) ? shape.default : undefined;
  const { maximum } = context.written.expand(shape);
  if (typeof maximum === 'number' && Number.isInteger(maximum) && maximum >= 1) bounds.max = maximum;
  if (
    typeof usual === 'number' &&
    Number.isInteger(usual) &&
    usual >= 1 &&
    !(typeof bounds.max === 'number' && usual > bounds.max)
  ) {
    bounds.default = usual;
  }
  return bounds;
}

function shapeOf(context: InferenceContext, operation: SourceOperation, name: string) {
  const { parameters } = endpointOf(context, operation);
  const parameter = isMap(parameters) ? parameters[name] : undefined;
  return isMap(parameter) && parameter.shape !== undefined ? parameter.shape : parameter;
}
