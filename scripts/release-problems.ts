/** What a release is made of. */
export interface ReleaseState {
  readonly version: string;
  /** The version that the lock file has for the package itself. */
  readonly lockedVersion: string;
  readonly changelog: string;
  readonly tags: readonly string[];
  /** What `git status --porcelain` says. */
  readonly status: string;
}

/** What stands between this state and a tag, each with what to do. */
export function releaseProblems({ version, lockedVersion, changelog, tags, status }: ReleaseState): string[] {
  const [, unreleased = ''] = /^## Unreleased$(.*?)(?=^## |$(?![\s\S]))/ms.exec(changelog) ?? [];
  const heading = new RegExp(`^## ${RegExp.escape(version)} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm');
  return [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)
      ? []
      : [`${version} is no version: write one of Semantic Versioning in package.json`]),
    ...(lockedVersion === version ? [] : [`package-lock.json is of ${lockedVersion}: run npm install`]),
    ...(tags.includes(`v${version}`) ? [`v${version} was released: write the next version in package.json`] : []),
    ...(heading.test(changelog)
      ? []
      : [`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)": write it below "## Unreleased"`]),
    ...(/^\s*[-*] /m.test(unreleased)
      ? ['CHANGELOG.md has lines under "## Unreleased": move them below the heading of the version']
      : []),
    ...(status.trim() === '' ? [] : ['something is not committed: commit it first']),
  ];
}
