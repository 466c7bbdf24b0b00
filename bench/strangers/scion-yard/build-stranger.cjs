'use strict';
const fs = require('node:fs');
const { P } = require('./people.cjs');
const { FAULTS } = require('./faults-test.cjs');
const ledger = new Set(JSON.parse(fs.readFileSync('ledger.json', 'utf8')).facts.map((f) => [f.part, f.kind, f.subject].join('|')));
for (const f of FAULTS) if (!ledger.has([f.part, f.kind, f.subject].join('|'))) console.log('no such fact', f.id);
const ops = {};
for (const f of FAULTS) ops[f.part] = (ops[f.part] ?? 0) + 1;
console.log(FAULTS.length, ops);
const line = (o) => '    ' + JSON.stringify(o);
fs.writeFileSync('stranger.json', `{
  "command": ["node","service.cjs"],
  "document": "service.yaml",
  "callers": [
${P.map((p) => line({ user: p.user, id: p.id, credential: p.credential, scheme: p.scheme, scopes: p.scopes, attributes: { ward: p.ward }, ...(p.scheme === 'badge' ? { claims: JSON.parse(Buffer.from(p.credential.split('.')[1], 'base64url')) } : {}) })).join(',\n')}
  ],
  "faults": [
${FAULTS.map(({ proof, ...f }) => line(f)).join(',\n')}
  ]
}
`);
JSON.parse(fs.readFileSync('stranger.json', 'utf8'));
