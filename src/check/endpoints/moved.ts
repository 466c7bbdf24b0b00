import { below } from '../../document/pointer.ts';
import { inferTypes } from '../../parts/expressions/infer.ts';
import { parseExpression } from '../../parts/expressions/parse.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { callableOperations } from '../../parts/operations.ts';
import { namesRow } from '../../parts/payload.ts';
import { ruleFor } from '../../parts/possible-errors.ts';
import { pathPieces } from '../../parts/row-address.ts';
import { error, type Rule, type Subject } from '../subject/rule.ts';

const aboutThere: ReadonlySet<string> = new Set(['read', 'update', 'replace', 'delete', 'transition']);

/** Rows that are at another address by now. */
export const movedRules: readonly Rule[] = [
  error(
    'endpoints/moved-no-row',
    'An endpoint says where its row has gone, and its path names no row, or not by what the row has.',
    'State `moved` where a path names the one row that is read, changed or deleted; leave `identity` to the path.',
    ({ spec, endpoints }) =>
      endpoints.flatMap((endpoint) => {
        if (!endpoint.moved) return [];
        const verb = statedValue(endpoint.does)?.verb;
        const isAbout = verb !== undefined && aboutThere.has(verb) && namesRow(endpoint) && !endpoint.identity;
        const isLed = pathPieces(spec, endpoint).every((piece) => typeof piece === 'string' || piece.way);
        if (isAbout && isLed) return [];
        return [{ message: `\`${endpoint.key}\` names no row that could be at another address.`, at: endpoint.moved.at }];
      }),
  ),
  error(
    'endpoints/moved-other-row',
    'What says where a row has gone refers to no row of that resource.',
    'Write a reference to one: `has(find(rename, { old: params.name })) ? find(rename, { old: params.name }).repository : null`.',
    (subject) =>
      subject.endpoints.flatMap(({ does, moved }) => {
        const effect = statedValue(does);
        if (!moved || !effect || !('resource' in effect)) return [];
        const resource = referredBy(subject, moved);
        if (resource === undefined || resource === effect.resource) return [];
        const seen = resource === 'none' ? 'This is no reference' : `This refers to one \`${resource}\``;
        return [{ message: `${seen}, and the row is one \`${effect.resource}\`.`, at: moved.at }];
      }),
  ),
  error(
    'endpoints/moved-unanswered',
    'An endpoint says where its row has gone, and no error tells it.',
    'State an error for it: `moved: { status: 308, when: resource.moved }`.',
    ({ spec }) =>
      callableOperations(spec).flatMap((operation) => {
        const moved = operation.endpoint?.moved;
        if (!moved || ruleFor(spec.errors, 'resource.moved', operation)) return [];
        return [{ message: `No error answers \`resource.moved\` at \`${operation.name}\`.`, at: moved.at }];
      }),
  ),
];

/** What tells that a row is elsewhere leads there. */
export const movedErrorRules: readonly Rule[] = [
  error(
    'errors/moved-status',
    'An error tells that a row is at another address, with a status that leads nowhere.',
    'Write 308 or 301 where it stays there, 307 or 302 where it may come back; 307 and 308 keep the method (RFC 9110 section 15.4).',
    ({ spec }) =>
      entriesOf(spec.errors.codes).flatMap(([name, { rules }]) =>
        rules.flatMap(({ status, when, at }) => {
          const value = statedValue(status);
          if (value === undefined || redirects.has(value) || !statedValue(when)?.includes('resource.moved')) return [];
          return [
            { message: `\`${name}\` answers with ${value}, and nobody follows its \`Location\`.`, at: below(at, 'status') },
          ];
        }),
      ),
  ),
];

/** The statuses by which clients follow `Location` with the same request. */
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** The resource that an expression refers to a row of, `none` where it is no reference; nothing where something else is wrong with it. */
function referredBy({ spec, expressions }: Subject, { at, source }: Expression): string | undefined {
  const checked = expressions.find(({ use }) => use.at === at);
  const parsed = parseExpression(source);
  const [scope] = checked?.use.scopes ?? [];
  if (!checked || checked.problems.length > 0 || !scope || 'unparsed' in parsed) return undefined;
  const { type } = inferTypes(spec, scope.scope, source, parsed.node);
  const bare = type.is === 'nullable' ? type.of : type;
  return bare.is === 'ref' ? bare.resource : 'none';
}
