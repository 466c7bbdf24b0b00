import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { auditVerdict } from './audit-verdict.ts';

/** `npm run audit`: whether what is installed with the package has known vulnerabilities, where the registry says so. */
const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  cwd: join(import.meta.dirname, '..'),
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
  shell: process.platform === 'win32',
});
const { said, exitCode } = auditVerdict(stdout ?? '');
console.log(said);
process.exitCode = exitCode;
