/** What came of asking a registry whether packages have known vulnerabilities. */
export interface AuditVerdict {
  readonly said: string;
  /** 1 where there are some; else 0, also where nobody could say. */
  readonly exitCode: 0 | 1;
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
}

/** What `npm audit --json` wrote, in words. */
export function auditVerdict(output: string): AuditVerdict {
  const told = read(output);
  const { vulnerabilities, metadata, statusCode, message, error } = told;
  if (vulnerabilities === undefined || metadata === undefined) {
    const why =
      message ?? error?.summary ?? (statusCode === undefined ? 'what it said is no report' : `it answered ${statusCode}`);
    return { said: `Nothing is known: the registry that npm is set to does not answer this question (${why}).`, exitCode: 0 };
  }
  const found = Object.values(vulnerabilities);
  const among = `${metadata.dependencies?.prod ?? 'the'} packages that are installed with this one`;
  if (found.length === 0) return { said: `No known vulnerability in ${among}.`, exitCode: 0 };
  const lines = found.map(({ severity, name, range }) => `  ${severity}: ${name} ${range}`);
  return { said: [`Known vulnerabilities in ${found.length} of ${among}:`, ...lines].join('\n'), exitCode: 1 };
}

function read(output: string): {
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly metadata?: { readonly dependencies?: { readonly prod?: number } };
  readonly statusCode?: number;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
} {
  try {
    const value: unknown = JSON.parse(output);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
