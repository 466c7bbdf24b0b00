/** What this project reads of a `package-lock.json`. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The place of what a package finds under a name: beside it, or in a folder above. */
export function placeOf({ packages }: LockFile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (folder === '') return undefined;
  }
}

/** The name of the package at a place. */
export function nameAt({ packages }: LockFile, place: string): string {
  return packages[place]?.name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** The places of all that is installed with the package where it is used, in the order of their names. */
export function runtimePlaces(lock: LockFile): string[] {
  const found = new Set<string>();
  const waiting = [''];
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    const { dependencies = {}, optionalDependencies = {} } = lock.packages[from] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(lock, from, name);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      waiting.push(place);
    }
  }
  return [...found].sort();
}

/**
 * What keeps `npm ci` from working on some machine: a package without a version or what it is checked by, or one that another
 * needs, be it only on one platform, and that is not there. npm leaves packages of other platforms out where it writes the file
 * from what is installed.
 */
export function gapsIn(lock: LockFile): string[] {
  return Object.entries(lock.packages).flatMap(([place, locked]) => {
    const { version, integrity, link, dependencies = {}, optionalDependencies = {} } = locked;
    const own = place === '' || link ? [] : [version === undefined && 'a version', integrity === undefined && 'an integrity'];
    const needed = Object.keys({ ...dependencies, ...optionalDependencies });
    return [
      ...own.filter((what) => what !== false).map((what) => `${place} has not ${what}`),
      ...needed
        .filter((name) => placeOf(lock, place, name) === undefined)
        .map((name) => `${place || 'the project'} needs ${name}, which is nowhere`),
    ];
  });
}
