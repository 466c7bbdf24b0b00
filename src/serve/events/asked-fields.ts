import { childNodes, type Node } from '../../parts/expressions/node.ts';
import { parseExpression } from '../../parts/expressions/parse.ts';
import { soughtIn } from '../../parts/expressions/reads.ts';

/** Which fields of a row an expression reads; `all` where that cannot be told. */
export type FieldNames = ReadonlySet<string> | 'all';

/** What an expression about an event reads of what is gone once the change is stored. */
export interface Asked {
  readonly resource: FieldNames;
  readonly next: FieldNames;
  readonly readsParams: boolean;
}

const none: ReadonlySet<string> = new Set();
export const nothingAsked: Asked = { resource: none, next: none, readsParams: false };

/** What an expression reads of the row before and after, and of the parameters. */
export function askedBy(source: string): Asked {
  return {
    resource: firstNames(pathsFrom('resource', source)),
    next: firstNames(pathsFrom('next', source)),
    readsParams: pathsFrom('params', source).length > 0,
  };
}

/** Whether an expression reads of an event what its change altered, as it was. */
export function readsBefore(source: string): boolean {
  return pathsFrom('event', source).some(([name]) => name === undefined || name === 'before');
}

/** The paths that lead from a name through an expression, as deep as they go: `resource.parcel.merchant` and `resource["parcel"].merchant`. */
export function pathsFrom(root: string, source: string): readonly (readonly string[])[] {
  const parsed = parseExpression(source);
  return 'node' in parsed ? pathsIn(root, parsed.node) : [];
}

/** The resources whose rows an expression looks up, and the fields that it may read of them: all names of fields that it has. */
export function soughtBy(source: string): { readonly resources: readonly string[]; readonly names: readonly string[] } {
  const parsed = parseExpression(source);
  const resources = 'node' in parsed ? soughtIn(parsed.node) : [];
  return { resources, names: resources.length > 0 && 'node' in parsed ? namesIn(parsed.node) : [] };
}

function namesIn(node: Node): string[] {
  const own = node.op === 'field' ? [node.name] : node.op === 'find' ? node.keys.map(({ field }) => field) : [];
  return [...own, ...childNodes(node).flatMap(namesIn)];
}

function firstNames(paths: readonly (readonly string[])[]): FieldNames {
  const names = new Set<string>();
  for (const [name] of paths) {
    if (name === undefined) return 'all';
    names.add(name);
  }
  return names;
}

function pathsIn(root: string, node: Node): string[][] {
  const path = pathTo(root, node);
  return path ? [path] : childNodes(node).flatMap((child) => pathsIn(root, child));
}

function pathTo(root: string, node: Node): string[] | undefined {
  if (node.op === 'name') return node.name === root ? [] : undefined;
  if (node.op === 'has') return pathTo(root, node.field);
  if (node.op === 'field') return pathTo(root, node.of)?.concat(node.name);
  if (node.op !== 'index' || node.index.op !== 'literal') return undefined;
  return pathTo(root, node.of)?.concat(String(node.index.value));
}
