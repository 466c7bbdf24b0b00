import type { SourceOperation } from '../read/operation.ts';
import { shapeOfPath } from './paths.ts';

/**
 * The operations with one version for all in the place of those that each path has of its own: `GET /v5/domains/{name}` beside
 * `DELETE /v6/domains/{name}` are about the same things, where no operation is there in two versions, since then these are generations of the interface.
 */
export function inOneVersion(operations: readonly SourceOperation[]): readonly SourceOperation[] {
  const versions = new Map<string, Set<string>>();
  const known = new Set<string>();
  let first: string | undefined;
  for (const { method, path } of operations) {
    const { version, rest } = versionOf(path);
    if (version === undefined) continue;
    const shape = shapeOfPath(rest);
    if (known.has(`${method} ${shape}`)) return operations;
    known.add(`${method} ${shape}`);
    first ??= version;
    versions.set(shape, (versions.get(shape) ?? new Set()).add(version));
  }
  // Versions that share no path may be two interfaces.
  if (first === undefined || ![...versions.values()].some(({ size }) => size > 1)) return operations;
  return operations.map((operation) => {
    const { version, rest } = versionOf(operation.path);
    return version === undefined ? operation : { ...operation, path: `/${first}${rest}` };
  });
}

function versionOf(path: string): { readonly version?: string; readonly rest: string } {
  const [, version, rest] = /^\/(v\d+(?:\.\d+)*)(\/.*)$/i.exec(path) ?? [];
  return version === undefined || rest === undefined ? { rest: path } : { version, rest };
}
