import { spawnSync } from 'node:child_process';
import { check, parseDocument } from '../../src/index.ts';
import { share } from '../long.ts';
import { documents } from './documents.ts';

/**
 * Checks every document that asks for too much in a process of 256 MiB, and says of each how long that took of the processor and how many findings
 * it has. A process that ends before its time is begun anew after the document that ended it.
 */
const [, , from] = process.argv;
const kinds = share(Object.keys(documents), 4);
if (from === undefined) {
  for (let at = 0; at < kinds.length; ) {
    const words = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=256', import.meta.filename, String(at)];
    const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 1_200_000, killSignal: 'SIGKILL' });
    process.stdout.write(stdout);
    at += stdout.split('\n').length - 1;
    if (at >= kinds.length) break;
    process.stdout.write(`${JSON.stringify({ kind: kinds[at], ended: true })}\n`);
    at += 1;
  }
} else {
  for (const kind of kinds.slice(Number(from))) {
    const [file, text] = documents[kind]?.() ?? ['', ''];
    const before = process.cpuUsage();
    const { findings } = check(parseDocument(text, file));
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(`${JSON.stringify({ kind, ms: Math.round((user + system) / 1000), findings: findings.length })}\n`);
  }
}
