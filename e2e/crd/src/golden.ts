/**
 * `golden`: the Go types of `golden/` through the real controller-gen, the same types in TypeScript through
 * `defineResource`: the same CustomResourceDefinitions, key for key, apart from the table of what is left out.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildControllerGen, markerHelp, runControllerGen, goldenTypes } from './controller-gen.js';
import { cronJob } from './golden/cron-job.js';
import { differingLeaves, flatten, type LeafDifference } from './golden/flatten.js';
import { fleet } from './golden/fleet.js';
import { leftOut } from './golden/left-out.js';
import { markersIn, markersOf, notSaid } from './golden/markers.js';
import { opens } from './golden/opens.js';
import { rules } from './golden/rules.js';
import { spellings } from './golden/spellings.js';
import { lists, numbers, texts } from './golden/values.js';
import type { Golden, Variant } from './golden/variant.js';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });

const goldens: Readonly<Record<string, Golden>> = {
  'cronjobs.batch.golden.kctl.dev': cronJob,
  'fleets.markers.golden.kctl.dev': fleet,
  'lists.markers.golden.kctl.dev': lists,
  'numbers.markers.golden.kctl.dev': numbers,
  'opens.markers.golden.kctl.dev': opens,
  'rules.markers.golden.kctl.dev': rules,
  'spellings.markers.golden.kctl.dev': spellings,
  'texts.markers.golden.kctl.dev': texts,
};
/** Settings of controller-gen, and the same in ours. */
const variants: readonly (readonly [options: string, variant: Variant])[] = [
  ['allowDangerousTypes=true,generateEmbeddedObjectMeta=true', {}],
  ['allowDangerousTypes=true', { embeddedMetadata: 'pruned' }],
  ['allowDangerousTypes=true,maxDescLen=0', { embeddedMetadata: 'pruned', maxDescriptionLength: 0 }],
  ['allowDangerousTypes=true,maxDescLen=12', { embeddedMetadata: 'pruned', maxDescriptionLength: 12 }],
];

/** Versions by name: the order in which controller-gen writes them is alphabetical, ours is that of Kubernetes. */
function byVersion(definition: unknown): unknown {
  const copy = structuredClone(definition) as { spec: { versions: { name: string }[] } };
  const versions = Object.fromEntries(copy.spec.versions.map((version) => [version.name, version]));
  return { ...copy, spec: { ...copy.spec, versions } };
}

const counts = new Map<string, number>();
const unexplained: (LeafDifference & { readonly where: string })[] = [];
const binary = buildControllerGen();
let [leaves, definitions] = [0, 0];
for (const [options, variant] of variants) {
  const theirs = runControllerGen(binary, options);
  const names = new Set([...theirs.keys(), ...Object.keys(goldens)]);
  for (const name of names) {
    const where = `${name} (${options})`;
    const [golden, other] = [goldens[name], theirs.get(name)];
    if (golden === undefined || other === undefined) throw new Error(`${where} is written by one generator alone`);
    const ours = byVersion(golden(variant));
    definitions += 1;
    leaves += flatten(ours).size;
    for (const leaf of differingLeaves(ours, byVersion(other))) {
      const row = leftOut.find(({ matches }) => matches(leaf));
      if (row === undefined) unexplained.push({ where, ...leaf });
      else counts.set(row.name, (counts.get(row.name) ?? 0) + 1);
    }
  }
}
for (const { where, path, ours, theirs } of unexplained.slice(0, 300)) {
  console.log(
    `${where} ${path}\n  controller-gen: ${JSON.stringify(theirs)}\n  @kctl/crd:      ${JSON.stringify(ours)}`,
  );
}
for (const { name, reason } of leftOut) console.log(`${String(counts.get(name) ?? 0).padStart(6)}  ${name}: ${reason}`);
const [all, said] = [markersOf(markerHelp(binary)), markersIn(goldenTypes)];
const missing = [...all].filter((name) => !said.has(name) && !Object.hasOwn(notSaid, name));
for (const name of missing) console.log(`no type in golden/ has the marker ${name} of controller-gen`);
for (const [name, reason] of Object.entries(notSaid)) console.log(`not said: ${name}: ${reason}`);
const result = {
  controllerGen: binary.replace(/^.*controller-gen-/, ''),
  markers: all.size,
  definitions,
  leaves,
  leftOut: Object.fromEntries(counts),
  unexplained: unexplained.length,
};
if (values.write) {
  const folder = join(import.meta.dirname, '..', 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'golden.json'), `${JSON.stringify(result, null, 2)}\n`);
}
console.log(
  `${all.size} markers, ${missing.length} not tried; ${definitions} definitions, ${leaves} leaves, ` +
    `${unexplained.length} unexplained differences`,
);
process.exitCode = unexplained.length + missing.length === 0 ? 0 : 1;
