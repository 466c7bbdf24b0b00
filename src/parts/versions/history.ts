import type { Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { entriesOf, isStated, statedValue } from '../fact.ts';
import type { Spec } from '../spec.ts';
import type { Change, Version } from '../versioning.ts';

/** One change, and the level that it leads up from: level 0 is the oldest shape, one above per change, the last the newest. */
export interface VersionStep {
  readonly level: number;
  readonly version: string;
  readonly change: Change;
}

/** A version of which nobody has said what it changed. */
export interface OpenChanges {
  readonly version: string;
  readonly at: Pointer;
  readonly question?: string;
}

/** The versions of a document in their order, and every change between them in one row. */
export interface History {
  /** Oldest first, as the document lists them. */
  readonly versions: readonly Version[];
  /** The version of a request that asks for none: the one that says so, else the last. */
  readonly current: string;
  readonly steps: readonly VersionStep[];
  /** The level of the newest shape, which is the stored one. */
  readonly newest: number;
  levelOf(version: string): number;
  /** The versions above one whose changes are open: without them its shape is not known. */
  openAbove(version: string): readonly OpenChanges[];
}

/** Reads the history of a document; nothing where it states no versions. */
export function historyOf({ versioning }: Spec): History | undefined {
  const versions = entriesOf(versioning.versions).map(([, version]) => version);
  const last = versions.at(-1);
  if (!last) return undefined;
  const { changes } = versioning;
  const steps: VersionStep[] = [];
  const levels = new Map<string, number>();
  const open: OpenChanges[] = [];
  for (const { name } of versions) {
    const list = isStated(changes) ? changes.value[name] : changes;
    if (list === undefined || list.standing === 'open')
      open.push({
        version: name,
        at: isStated(changes) && list ? list.at : below(changes.at, name),
        ...(list && 'question' in list && list.question !== undefined && { question: list.question }),
      });
    else if (isStated(changes))
      for (const change of statedValue(changes.value[name] ?? { standing: 'none', at: '' }) ?? [])
        steps.push({ level: steps.length, version: name, change });
    levels.set(name, steps.length);
  }
  const order = new Map(versions.map(({ name }, index) => [name, index]));
  return {
    versions,
    current: (versions.find(({ current }) => current) ?? last).name,
    steps,
    newest: steps.length,
    levelOf: (version) => levels.get(version) ?? steps.length,
    openAbove: (version) =>
      open.filter(({ version: other }) => (order.get(other) as number) > (order.get(version) ?? versions.length)),
  };
}
