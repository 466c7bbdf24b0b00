import { type LockFile, nameAt, placeOf, runtimePlaces } from './lock-file.ts';

/** What the bill says of the package itself. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

/**
 * A bill of materials in CycloneDX 1.6: what is installed with the package, with the hashes that npm checks it by. It is made of the
 * lock file alone, so that the same file gives the same bill. (`npm sbom --omit dev` leaves out what a tool of the developers'
 * needs too.)
 */
export function billOfMaterials(manifest: Manifest, lock: LockFile) {
  const places = runtimePlaces(lock);
  const { name, version, description, license } = manifest;
  const own = { type: 'application', 'bom-ref': urlOf(name, version), name, version, purl: urlOf(name, version) };
  const refAt = (place: string) => urlOf(nameAt(lock, place), lock.packages[place]?.version ?? '');
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...own, description, licenses: [{ expression: license }] } },
    components: places.map((place) => {
      const locked = lock.packages[place];
      return {
        type: 'library',
        'bom-ref': refAt(place),
        name: nameAt(lock, place),
        version: locked?.version ?? '',
        purl: refAt(place),
        ...(locked?.integrity !== undefined && { hashes: hashesOf(locked.integrity) }),
        ...(locked?.license !== undefined && { licenses: [{ expression: locked.license }] }),
      };
    }),
    dependencies: ['', ...places].map((place) => {
      const { dependencies = {}, optionalDependencies = {} } = lock.packages[place] ?? {};
      const needed = Object.keys({ ...dependencies, ...optionalDependencies }).map((one) => placeOf(lock, place, one));
      return {
        ref: place === '' ? own['bom-ref'] : refAt(place),
        dependsOn: needed
          .filter((one) => one !== undefined)
          .map(refAt)
          .sort(),
      };
    }),
  };
}

/** A package as https://github.com/package-url/purl-spec writes it. */
function urlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

const algorithms: Readonly<Record<string, string>> = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };

/** The hashes of an integrity as https://www.w3.org/TR/SRI/ writes it. */
function hashesOf(integrity: string): { readonly alg: string; readonly content: string }[] {
  return integrity.split(/\s+/).flatMap((text) => {
    const [, word = '', digest = ''] = /^(\w+)-([\w+/]+=*)/.exec(text) ?? [];
    const alg = algorithms[word];
    return alg === undefined ? [] : [{ alg, content: Buffer.from(digest, 'base64').toString('hex') }];
  });
}
