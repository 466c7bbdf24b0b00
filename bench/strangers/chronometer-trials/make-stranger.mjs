// Writes stranger.json: the callers of service.mjs, and the faults.
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
const b = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
const pass = (claims) => { const t = b({ alg: 'HS256', typ: 'JWT' }) + '.' + b(claims); return t + '.' + createHmac('sha256', 'longitude-act-1714-twenty-thousand-pounds').update(t).digest('base64url'); };
const purser = (id, grade) => { const claims = { iss: 'https://dockyards.example', aud: 'chronometers', sub: id, post: 'purser', grade, iat: 1767225600, exp: 4102444800 }; return { user: 'purser', id, credential: pass(claims), scheme: 'pass', claims }; };
const callers = [
  { user: 'maker', id: 'arnold', credential: 'dep_A7rnoldChronoMaker00aa01', scheme: 'deposit', scopes: ['deposit', 'trials'] },
  { user: 'maker', id: 'kendall', credential: 'dep_K3ndallLarcumMaker00bb02', scheme: 'deposit', scopes: ['deposit', 'trials'] },
  { user: 'maker', id: 'mudge', credential: 'dep_M9udgeThomasMaker000cc03', scheme: 'deposit', scopes: ['deposit', 'trials'] },
  { user: 'maker', id: 'harrison', credential: 'dep_H1arrisonJohnMaker00dd04', scheme: 'deposit', scopes: ['trials'] },
  { user: 'rater', id: 'airy', credential: 'war_A1ryGeorgeObserver00ee05', scheme: 'warrant' },
  { user: 'rater', id: 'dunkin', credential: 'war_D2unkinEdwinObserver0ff06', scheme: 'warrant' },
  purser('deptford', 'A'), purser('portsea', 'B'),
];
const faults = `
no-base|purpose|base address|base_url|office notice|Endpoints are served at the root of the host too, without /office.
serial-short|resources|allowed values|chronometer.serial|create chronometer|A serial of two digits is taken.
jewels-max|resources|allowed values|chronometer.jewels|create chronometer|32 jewels are taken.
beat-step|resources|allowed values|chronometer.beat_hz|create chronometer|A multiple of 0.25 is taken where one of 0.5 is stated.
remark-long|resources|allowed values|chronometer.remark|create chronometer|A remark of 61 characters is taken.
pin-shown|resources|required flags|reading.pin|read reading|The write-only pin is shown.
secret-again|resources|required flags|hook.secret|read hook|The secret is shown again when the hook is read.
price-to-rater|resources|required flags|chronometer.asking_price|read chronometer|Raters see the asking price.
serial-of-all|resources|allowed values|chronometer.serial|create chronometer|Serials are unique over all makers, not for each maker.
number-of-all|resources|allowed values|trial.number|create trial|Trials are numbered over all chronometers.
gross-absolute|resources|allowed values|trial.gross_ms|read trial|The sum is of absolute errors.
put-merges|resources|required flags|reading.temp_c|replace reading|Optional fields that a replacement leaves out stay.
rule-at-birth-only|resources|allowed values|trial.days|update trial|The rule long_enough is not asked when a trial is changed.
amended-by-hand-only|resources|allowed values|chronometer.amended_at|withdraw chronometer|amended_at is set by updates and not by transitions.
withdraw-on-test|states|transitions|chronometer|withdraw chronometer|A chronometer that is on test can be withdrawn.
readmit-three|states|transitions|chronometer|readmit chronometer|One that was tried three times is readmitted.
finish-one|states|transitions|trial|finish trial|One reading is enough to finish.
certify-low|states|transitions|trial|certify trial|The lower bound of the gross error is not asked.
annul-finished|states|transitions|trial|annul trial|A finished trial can be annulled.
annul-keeps-piece|states|transitions|trial|annul trial|The chronometer of a running trial that is annulled stays on test.
lapse-late|states|transitions|trial|lapse trial|A planned trial lapses after 15 days, not 14.
back-from-deposit|states|transitions|chronometer|send_back chronometer|The 21 days are counted from the deposit, not from the withdrawal.
stall-always|states|transitions|trial|stall trial|A running trial fails after 20 days although it has readings.
min-exclusive|endpoints|parameters|list chronometer|list chronometer|jewels_min leaves out those that have just so many.
remark-any-case|endpoints|parameters|list chronometer|list chronometer|remark_has does not mind case.
first-of-split|endpoints|parameters|list trial|list trial|Of several phases the first alone is looked for.
oven-first|endpoints|parameters|list trial|list trial|oven looks at the first temperature of the list alone.
way-ignored|endpoints|parameters|list trial|list trial|way=desc turns nothing.
mark-repeats|endpoints|parameters|list chronometer|list chronometer|The next page begins with the last row of the one before.
tag-forgotten|endpoints|parameters|update chronometer|update chronometer|If-Match may be left out.
no-location|endpoints|response payload shapes|create reading|create reading|A new reading has no Location.
key-bodyless|endpoints|parameters|create chronometer|create chronometer|The fingerprint of a key does not cover the body.
stray-query|endpoints|parameters|list trial|list trial|An undeclared query parameter is ignored.
any-grade|authentication|permission rules|list trial|list trial|Pursers see certified trials of every class.
list-all-trials|authentication|permission rules|list trial|list trial|A maker's list shows the trials of all makers.
purser-sees-days|authentication|permission rules|read trial|read trial|A purser is shown the field days.
scope-ignored|authentication|permission rules|create chronometer|create chronometer|The scope deposit is not asked for.
strike-any|authentication|permission rules|delete reading|delete reading|A rater may delete the reading of another one.
certify-any-scheme|authentication|permission rules|certify trial|certify trial|Other schemes than warrant are looked at, so a maker's key is 403 instead of 401.
opened-twice|events|emitting operations|trial.opened|open trial|trial.opened is told twice, under two identifiers.
judged-silent-failed|events|emitting operations|trial.judged|certify trial|A trial that failed is not told of.
seal-no-id|events|delivery mechanism|webhook|create chronometer|The seal is over the time and the body without the identifier.
note-in-event|events|payload shapes|trial.opened|open trial|The sealed note is in what a maker is sent.
noted-to-all|events|delivery mechanism|reading.noted|create reading|Raters hear of readings too, not the owner of the trial alone.
two-retries|events|delivery mechanism|webhook|create chronometer|A delivery is given up after two retries, not three.
hidden-403|errors|conditions|resource.missing|read chronometer|A row that its caller may not read is 403 instead of 404.
lacking-422|errors|status codes|lacking|create chronometer|What is missing is answered with 422.
docket-other|errors|error payload shapes|docket|read chronometer|The docket in the body is not that of the header.
hand-plain|errors|error codes|not_your_hand|replace reading|The rule's own code is not answered but not_for_you.
no-retry-after|errors|conditions|limit.rate|create hook|A refusal of a rate has no Retry-After.
rate-241|limits|rate limits|caller|read chronometer|241 requests a minute are let through.
quota-utc|limits|quotas|create trial|create trial|The day of the quota is that of UTC, not of Asia/Kolkata.
idle-hooks-count|limits|quotas|rows of hook|create hook|Hooks that are not active count as rows.
no-clamp|limits|pagination bounds|list chronometer|list chronometer|A size above the most is refused instead of cut down.
body-4097|limits|size limits|body|create chronometer|A body of 4097 bytes is taken.
escapement-early|versioning|compatibility guarantees|chronometer.escapement|read chronometer|r1 shows the escapement.
old-filter|versioning|compatibility guarantees|chronometer.calibre|list chronometer|In r1 the calibre is filtered by its newest name.
event-newest|versioning|compatibility guarantees|reading.error_ms|create reading|A hook that was made in r1 is told in r2.
readmit-early|versioning|version identifiers|readmit chronometer|readmit chronometer|r1 has the endpoint that r2 added.
sunset-serves|versioning|deprecation rules|r1|list chronometer|r1 is served after its sunset.
`.trim().split('\n').map((l) => { const [id, part, kind, subject, operation, bug] = l.split('|'); return { id, part, kind, subject, operation, bug }; });
writeFileSync('stranger.json', JSON.stringify({ command: ['node', 'service.mjs'], document: 'service.yaml', callers, faults }, null, 1));
console.log(faults.length, new Set(faults.map((f) => f.id)).size);
