import { join } from 'node:path';
import { cpu, peakMemory, throughput } from '../harness/benchmark.js';
                                                                                                             
import { whyNoLimit } from '../harness/container.js';
import { compilePrograms } from '../harness/programs.js';
import { bundledSubject, compiledSubject, goSubject } from '../harness/subjects.js';
import { extra } from '../servers/extra-reading.js';
import { firstOf, onServer, sharedServer } from '../servers/shared-server.js';

const objects = process.env['KCTL_BENCH_OBJECTS'] ?? '10000';
const passes = process.env['KCTL_BENCH_PASSES'] ?? '5';

const seed = join(import.meta.dirname, 'seed.ts');
const server = firstOf(sharedServer('real', seed), sharedServer('embedded', seed));

/** A subject whose objects are updated while it runs, by a process of its own. */
function besideUpdates(subject         )          {
  return {
    name: subject.name,
    prepare: async () => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');
      const runner = [process.execPath, '--import', typescript, join(import.meta.dirname, 'with-updates.ts')];
      return { command: [...runner, ...prepared.command], version: prepared.version };
    },
  };
}

/** A subject with variables of the environment that a user can set, too. */
function withEnvironment(subject         , name        , variables                                  )          {
  return {
    name,
    prepare: async () => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const assignments = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
      return { ...prepared, command: ['env', ...assignments, ...prepared.command] };
    },
  };
}

/** The smallest container that a subject runs in. */
function contained(subject         )          {
  return {
    name: inContainer(subject.name),
    prepare: async () => {
      const problem = await whyNoLimit();
      if (problem !== undefined) return { skipped: problem };
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const search = join(
        compilePrograms(join(import.meta.dirname, '..', '..', '..')),
        'reconcile',
        'smallest-container.js',
      );
      return { ...prepared, command: [process.execPath, search, ...prepared.command] };
    },
  };
}

const inContainer = (subject        )         => `${subject}, smallest container`;
const ours = '@kctl/runtime';
const go = 'controller-runtime';
/** What `main` of @kctl/operator does by default. */
const kept = `${ours} with keepYoungGenerationSmall()`;
/** Options that a user can set, in NODE_OPTIONS; see the runtime's README. */
const smallHeapFlags = ['--max-semi-space-size=1'];
const smallHeap = `${ours} with ${smallHeapFlags.join(' ')}`;
/** What the README has an image set beside it. */
const image = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };
const smallImage = `${smallHeap}, MALLOC_ARENA_MAX=1 and MALLOC_TRIM_THRESHOLD_=131072`;
/** As the image that `npm create @kctl` writes runs an operator: bundled, by `main`, with the two variables. */
const scaffold = `${ours} as its scaffold's image runs it`;
/** `createManager({ inspection: { port: 0 } })`. */
const inspected = `${ours} with inspection`;
const idle = `${ours}, idle`;
const scaffoldIdle = `${scaffold}, idle`;
const imported = `${ours}, import`;
const residentMemory          = extra('residentMb', 'MiB RSS');
const idleMemory          = extra('idleMb', 'MiB RSS');
const smallestContainer          = extra('smallestMib', 'MiB limit');

                
                                
                              
 
const none       = { reach: null, aim: null };
const quick       = { reach: 2, aim: 3 };

const of = (subject        , scenario        )              => ({ subject, args: [scenario, objects, passes] });

function figure(name        , scenario        , reading         , goal      )         {
  return { figure: name, ours: of(ours, scenario), peer: of(go, scenario), reading, ...goal };
}

/** Against a limit. `aimed`: what is aimed at, in the same unit. */
function atMost(limit        , aimed        , measured                                              )              {
  return { ...measured, limit, reach: 1, aim: Number((limit / aimed).toPrecision(3)) };
}

const start = `from the manager's start to ${objects} reconciled`;
const events = `generic events for ${objects} keys, ${passes} times`;
const updates = '200 updates a second';
const cold = `${updates}, first 5 s`;
const warm = `${updates}, after 20 s`;
const memory = `memory with ${objects} resources cached`;
const contains = `smallest container with ${objects} resources cached`;

export const benchmark            = {
  subjects: [
    ...[
      compiledSubject(ours, 'reconcile/kctl.ts', [], '@kctl/runtime'),
      compiledSubject(kept, 'reconcile/small.ts', [], '@kctl/runtime'),
      compiledSubject(smallHeap, 'reconcile/kctl.ts', smallHeapFlags, '@kctl/runtime'),
      withEnvironment(
        compiledSubject(smallImage, 'reconcile/kctl.ts', smallHeapFlags, '@kctl/runtime'),
        smallImage,
        image,
      ),
      withEnvironment(bundledSubject(scaffold, 'reconcile/small.ts', '@kctl/runtime'), scaffold, image),
      withEnvironment(compiledSubject(inspected, 'reconcile/kctl.ts', [], '@kctl/runtime'), inspected, {
        KCTL_BENCH_INSPECTION: '1',
      }),
      goSubject(go, 'reconcile', [], ['sigs.k8s.io/controller-runtime']),
    ].map((subject) => besideUpdates(onServer(subject, server))),
    onServer(compiledSubject(idle, 'reconcile/idle.ts', [], '@kctl/runtime'), server),
    onServer(
      withEnvironment(bundledSubject(scaffoldIdle, 'reconcile/small-idle.ts', '@kctl/runtime'), scaffoldIdle, image),
      server,
    ),
    ...[
      contained(compiledSubject(ours, 'reconcile/kctl.ts', [], '@kctl/runtime')),
      withEnvironment(
        contained(bundledSubject(scaffold, 'reconcile/small.ts', '@kctl/runtime')),
        inContainer(scaffold),
        image,
      ),
      contained(goSubject(go, 'reconcile', [], ['sigs.k8s.io/controller-runtime'])),
      withEnvironment(
        contained(bundledSubject(scaffoldIdle, 'reconcile/small-idle.ts', '@kctl/runtime')),
        inContainer(scaffoldIdle),
        image,
      ),
    ].map((subject) => onServer(subject, server)),
    compiledSubject(imported, 'reconcile/import.ts', [], '@kctl/runtime'),
  ],
  figures: [
    figure(`no-op reconciles: ${events}`, 'events', throughput, quick),
    figure(`no-op reconciles: ${events}: CPU time`, 'events', cpu, none),
    figure(`no-op reconciles: ${start}`, 'initial', throughput, none),
    figure(`no-op reconciles: ${start}: CPU time`, 'initial', cpu, none),
    figure(memory, 'initial', residentMemory, none),
    atMost(115, 85, { figure: memory, ours: of(ours, 'initial'), reading: residentMemory }),
    atMost(115, 85, { figure: `${memory}: ${kept}`, ours: of(kept, 'initial'), reading: residentMemory }),
    atMost(115, 85, { figure: `${memory}: ${smallHeap}`, ours: of(smallHeap, 'initial'), reading: residentMemory }),
    atMost(115, 85, { figure: `${memory}: ${smallImage}`, ours: of(smallImage, 'initial'), reading: residentMemory }),
    atMost(115, 85, { figure: `${memory}: ${scaffold}`, ours: of(scaffold, 'initial'), reading: residentMemory }),
    figure(`peak ${memory}`, 'initial', peakMemory, none),
    atMost(70, 60, { figure: 'memory of an idle manager', ours: { subject: idle, args: [] }, reading: idleMemory }),
    atMost(70, 60, {
      figure: `memory of an idle manager: ${scaffoldIdle}`,
      ours: { subject: scaffoldIdle, args: [] },
      reading: idleMemory,
    }),
    {
      figure: contains,
      ours: of(inContainer(ours), 'initial'),
      peer: of(inContainer(go), 'initial'),
      reading: smallestContainer,
      ...none,
    },
    atMost(115, 85, { figure: contains, ours: of(inContainer(ours), 'initial'), reading: smallestContainer }),
    atMost(115, 85, {
      figure: `${contains}: ${scaffold}`,
      ours: of(inContainer(scaffold), 'initial'),
      reading: smallestContainer,
    }),
    atMost(70, 60, {
      figure: `smallest container of an idle manager: ${scaffoldIdle}`,
      ours: { subject: inContainer(scaffoldIdle), args: ['1'] },
      reading: smallestContainer,
    }),
    figure(`${cold}: write sent to reconcile, p50`, 'updates', extra('p50Ms', 'ms'), { reach: 0.9, aim: 1 }),
    figure(`${cold}: write sent to reconcile, p99`, 'updates', extra('p99Ms', 'ms'), { reach: 0.7, aim: 1 }),
    figure(`${cold}: CPU time per reconcile`, 'updates', cpu, { reach: 0.9, aim: 1 }),
    figure(`${warm}: write sent to reconcile, p50`, 'updates', extra('warmP50Ms', 'ms'), { reach: 1.2, aim: 2 }),
    figure(`${warm}: write sent to reconcile, p99`, 'updates', extra('warmP99Ms', 'ms'), { reach: 1.2, aim: 2 }),
    figure(`${warm}: CPU time per reconcile`, 'updates', extra('warmCpuUs', 'CPU µs/op'), { reach: 1.2, aim: 2 }),
    // The peer is the same without: below 5 % more is the goal.
    ...(
      [
        [`no-op reconciles: ${events}`, 'events', cpu, none],
        [`${cold}: CPU time per reconcile`, 'updates', cpu, none],
        [`${warm}: CPU time per reconcile`, 'updates', extra('warmCpuUs', 'CPU µs/op'), { reach: 0.95, aim: 1 }],
      ]         
    ).map(
      ([name, scenario, reading, goal])         => ({
        figure: `${name}: ${inspected}`,
        ours: of(inspected, scenario),
        peer: of(ours, scenario),
        reading,
        ...goal,
      }),
    ),
    atMost(100, 60, {
      figure: 'import of @kctl/runtime',
      ours: { subject: imported, args: [] },
      reading: extra('importMs', 'ms'),
    }),
  ],
};
