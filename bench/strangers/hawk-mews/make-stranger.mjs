import { writeFileSync } from 'node:fs';
const ring = (user, id, n, scopes) => ({ user, id, credential: 'mws.' + (id + 'Qx7').padEnd(28, String(n)), scheme: 'ring', scopes });
const callers = [
  ring('falconer', 'ada', 1, ['birds', 'air']), ring('falconer', 'bram', 2, ['birds', 'air']), ring('falconer', 'cleo', 3, ['birds', 'air']), ring('falconer', 'dirk', 4, []),
  ring('warden', 'wim', 5, []), ring('warden', 'wanda', 6, []),
  { user: 'assessor', id: 'ines', credential: 'ines:county-Book-81', scheme: 'seal' }, { user: 'assessor', id: 'ivo', credential: 'ivo:county-Book-82', scheme: 'seal' },
];
const faults = `
p-base|purpose|base address|base_url|create hawk|Location of what was made lacks the path of the base address.
p-function|purpose|functions|fly a hawk|scrub flight|The endpoint that scrubs a flight is not there.
p-users|purpose|users|assessor|list hawk|The credentials of assessors are refused as unknown.
r-name|resources|allowed values|hawk.name|create hawk|A name of 25 characters is taken.
r-imm|resources|allowed values|hawk.ring_no|update hawk|The ring number, which is immutable, can be changed.
r-weight|resources|allowed values|hawk.weight_g|create hawk|A weight of exactly 90 is refused.
r-dossier|resources|allowed values|hawk.dossier|update hawk|A falconer may write the dossier, which wardens alone may.
r-chip|resources|allowed values|hawk.chip|create hawk|The write-only chip is shown in the answer that makes a hawk.
r-flown|resources|allowed values|hawk.flown|read hawk|Flights that strayed count as flown.
r-bagged|resources|allowed values|hawk.bagged|read hawk|The greatest bag is told in place of the sum of all.
r-minutes|resources|required flags|flight.minutes|create flight|The default is 45 minutes, not 30.
r-keeper|resources|allowed values|hawk.name|create hawk|A name is taken as unique over all keepers, not for each.
r-number|resources|allowed values|flight.number|create flight|Flights are numbered over all hawks, not for each.
r-merlin|resources|allowed values|hawk.weight_g|update hawk|The rule for merlins is asked at creation alone, not at an update.
r-once|resources|allowed values|listener.seal_key|read listener|The key is shown again when a listener is read.
r-changed|resources|allowed values|hawk.changed_at|clear hawk|Clearing a hawk does not set changed_at.
r-held|resources|allowed values|flight.moor|delete moor|A moor can be deleted while scrubbed flights refer to it.
s-emerge|states|transitions|hawk|emerge hawk|A hawk emerges after 22 days, not 21.
s-then|states|transitions|hawk|depart hawk|The booked flights of a hawk that departs are not scrubbed.
s-thin|states|transitions|hawk|moult hawk|A hawk of exactly 120 grams is called too thin.
s-fit|states|transitions|flight|launch flight|A hawk that was not cleared may be launched.
s-land|states|transitions|flight|land flight|A flight that strayed cannot land.
s-lapse|states|transitions|flight|lapse flight|A flight lapses at the time it was made with, though launch_by was moved.
s-scrub|states|transitions|flight|scrub flight|A flight that strayed can be scrubbed.
s-delete|states|states|hawk|delete hawk|A hawk that is fit can be deleted.
e-split|endpoints|parameters|GET /moors|list moor|Of several surfaces that are asked for only the first is found.
e-open|endpoints|parameters|GET /moors|list moor|open=false finds all moors.
e-find|endpoints|parameters|GET /hawks|list hawk|The search does not look at ring numbers.
e-from|endpoints|parameters|GET /flights|list flight|from leaves out a flight of exactly that time.
e-ifmatch|endpoints|request payload shapes|PATCH /hawks/{id}|update hawk|A change without If-Match is made.
e-304|endpoints|response payload shapes|GET /hawks/{id}|read hawk|If-None-Match is not looked at.
e-keys|endpoints|request payload shapes|POST /hawks|create hawk|Idempotency keys of different callers are taken for one.
e-location|endpoints|response payload shapes|POST /hawks/{hawk}/flights|create flight|The answer that makes a flight has no Location.
e-roster|endpoints|response payload shapes|GET /hawks/{hawk}/flights|roster|The roster shows the oldest flight first.
e-replace|endpoints|request payload shapes|PUT /moors/{code}|replace moor|lowest_c stays when a replacement leaves it out.
a-depart|authentication|permission rules|depart hawk|depart hawk|A falconer without the scope birds may take a hawk away.
a-air|authentication|permission rules|launch flight|launch flight|A falconer without the scope air may launch.
a-booked|authentication|permission rules|read flight|read flight|An assessor may read flights that are still booked.
a-missing|authentication|permission rules|read hawk|read hawk|The hawk of somebody else is answered 403, not 404.
a-public|authentication|schemes|ring|list moor|A bad ring at the moors is taken for no credential.
a-listener|authentication|permission rules|delete listener|delete listener|Anybody may delete the listener of somebody else.
v-weighed|events|emitting operations|hawk.weighed|update hawk|hawk.weighed is told of every update, the weight changed or not.
v-lapse|events|emitting operations|flight.ended|lapse flight|flight.ended is not told when a flight lapses.
v-signs|events|delivery mechanism|webhook|create hawk|The signature leaves out the identifier.
v-off|events|delivery mechanism|webhook|create hawk|Listeners that are off are told all the same.
v-twice|events|emitting operations|flight.booked|create flight|flight.booked is told twice, as two events.
v-star|events|delivery mechanism|webhook|create hawk|A listener that asks for hawk.* is told of nothing.
v-newid|events|delivery mechanism|webhook|create hawk|Every further try has a new identifier.
x-lacking|errors|conditions|lacking|create hawk|A missing field is answered with the code unfit.
x-path|errors|error payload shapes|mishap.spots|create hawk|The path of a violation lacks its slash.
x-galeup|errors|conditions|gale|update flight|The wind is asked at creation alone, not at an update.
x-header|errors|error payload shapes|Mews-Mishap|list hawk|Mews-Mishap is absent from 401.
l-rate|limits|rate limits|per caller|list moor|241 requests a minute go through.
l-rows|limits|quotas|rows of listener|create listener|A caller may have four listeners.
l-clamp|limits|pagination bounds|GET /hawks|list hawk|A page holds 39 rows at the most.
l-body|limits|size limits|body|create hawk|A body of exactly 4096 bytes is refused.
n-filter|versioning|version identifiers|e1|list hawk|In e1 the filter temper=calm finds nothing.
n-sunset|versioning|deprecation rules|e1|list hawk|e1 is served after its sunset.
n-refused|versioning|deprecation rules|e1|read hawk|Refusals in e1 carry no Deprecation.
n-roster|versioning|version identifiers|e1|roster|The roster, which e2 added, is there in e1.
`.trim().split('\n').map((l) => { const [id, part, kind, subject, operation, bug] = l.split('|'); return { id, part, kind, subject, operation, bug }; });
writeFileSync(new URL('./stranger.json', import.meta.url), JSON.stringify({ command: ['node', 'service.mjs'], document: 'service.yaml', callers, faults }, null, 1) + '\n');
console.log(faults.length, callers.map((c) => c.credential.length));
