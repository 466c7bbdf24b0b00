import { writeFileSync } from 'node:fs';
import { FAULTS } from './faults.mjs';
const c = (user, id, scheme, credential, scopes, bank) => ({ user, id, credential, scheme, scopes, attributes: { bank } });
const callers = [
  c('farmer', 'hof-anna', 'key', 'ring.annaAAAA1111bbbb2222cccc', ['book'], 'sunny'),
  c('farmer', 'hof-anna', 'word', 'hof-anna:rye-and-oats', ['book'], 'sunny'),
  c('farmer', 'hof-bert', 'key', 'ring.bertAAAA1111bbbb2222dddd', ['book'], 'shady'),
  c('farmer', 'hof-cilli', 'word', 'hof-cilli:red-clover', ['book'], 'sunny'),
  c('farmer', 'hof-dolf', 'key', 'ring.dolfAAAA1111bbbb2222eeee', [], 'shady'),
  c('mechanic', 'mec-emil', 'key', 'ring.emilAAAA1111bbbb2222ffff', ['wrench'], 'sunny'),
  c('mechanic', 'mec-frida', 'word', 'mec-frida:oil-can-7', ['wrench'], 'shady'),
  c('mechanic', 'mec-gust', 'key', 'ring.gustAAAA1111bbbb2222gggg', [], 'shady'),
  c('steward', 'vogt-hedi', 'key', 'ring.hediAAAA1111bbbb2222hhhh', ['yard', 'rota'], 'sunny'),
  c('steward', 'vogt-ivo', 'word', 'vogt-ivo:ledger-1911', ['yard', 'rota'], 'shady'),
  c('steward', 'vogt-jutta', 'key', 'ring.juttaAAA1111bbbb2222iiii', ['rota'], 'shady'),
];
writeFileSync('stranger.json', JSON.stringify({ command: ['node', 'service.mjs'], document: 'service.yaml', callers, faults: FAULTS }, null, 2) + '\n');
const n = {}; for (const f of FAULTS) n[f.part] = (n[f.part] ?? 0) + 1; console.log(FAULTS.length, n);
