import { join } from 'node:path';
                                                                                                             
import { bytesPerKey, cpu, pause, throughput, usualPause } from '../harness/benchmark.js';
import { goSubject, nodeSubject, rustSubject } from '../harness/subjects.js';
import { preparedServer } from './prepared-server.js';
                                              

const objects = process.env['KCTL_BENCH_OBJECTS'] ?? '100000';
const events = process.env['KCTL_BENCH_EVENTS'] ?? '500000';
/** What those get that take 0.4 ms an event: five rounds of all subjects with all events would take two hours. */
const fewerEvents = process.env['KCTL_BENCH_FEWER_EVENTS'] ?? String(Math.ceil(Number(events) / 5));
const slowSubjects = ['client-go dynamic', 'client-go typed JSON', 'client-go structs'];

const ours = '@kctl/informer';
const oursOnWorkloads = '@kctl/informer, custom resources';
/** The same parts without the shared informer: what does the classic diagram cost? */
const byHand = 'informer by hand';
const compact = "@kctl/informer, storage: 'compact'";
const compactMany = `${compact}, many objects`;
/** How many objects those are that compressing them is for; they are made while they are listed. */
const manyObjects = process.env['KCTL_BENCH_MANY_OBJECTS'] ?? '1000000';
const list = (subject        )              => ({ subject, args: ['list', objects, '0'] });
const watch = (subject        )              => ({
  subject,
  args: ['watch', objects, slowSubjects.includes(subject) ? fewerEvents : events],
});
/** The object of each event is read: ours parses it then, the peers' have done so before. */
const listRead = (subject        )              => ({ subject, args: ['list-read', objects, '0'] });
const watchRead = (subject        )              => ({ subject, args: ['watch-read', objects, events] });
const reads = (subject        )              => ({ subject, args: ['reads', objects, '0'] });
const many              = { subject: compactMany, args: ['list', manyObjects, '0'] };

/** A subject whose program talks to a neutral server, one of them at a time. */
function beside(encoding          , subject         , size = { objects, events })          {
  return {
    name: subject.name,
    prepare: async () => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      // Protobuf is written by the program that reads it, with the library that servers write it with.
      const encoder = encoding === 'protobuf' ? [...prepared.command, 'encode'] : [];
      const url = await preparedServer(encoding, size, encoder);
      const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');
      const runner = [
        process.execPath,
        '--import',
        typescript,
        join(import.meta.dirname, 'on-server.ts'),
        url,
        encoding,
      ];
      return { command: [...runner, ...prepared.command], version: prepared.version };
    },
  };
}

                
                                
                              
 
const none       = { reach: null, aim: null };

/** What a peer is compared in, and what has to be reached. */
                 
                           
                          
                           
                         
                          
 

function figuresBeside(peer        , goals        = {})           {
  const subject = peer === 'client-go structs' ? oursOnWorkloads : ours;
  const watched = `watch events to two handlers${slowSubjects.includes(peer) && fewerEvents !== events ? ` (${fewerEvents} for the peer)` : ''}`;
  const read =
    (own             , peers             )              =>
    (measured) =>
      (measured === subject ? own : peers)(measured);
  const row = (figure        , of                                  , reading         , goal       = none)         => ({
    figure,
    ours: of(subject),
    peer: of(peer),
    reading,
    ...goal,
  });
  return [
    row('list to synced store, two indexes', list, throughput, goals.listWall),
    row('list to synced store: CPU', list, cpu, goals.listCpu),
    row(watched, watch, throughput),
    row(`${watched}: CPU`, watch, cpu, goals.watchCpu),
    row('resident memory per object', list, bytesPerKey, goals.memory),
    row('list, each object read: CPU', read(listRead, list), cpu),
    row(`${watched}, each object read: CPU`, read(watchRead, watch), cpu, goals.readCpu),
    row('resident memory per object, each read', read(listRead, list), bytesPerKey),
  ];
}

const firstRead          = { unit: 'µs', better: 'less', of: ({ wallMs }) => wallMs * 1000 };
const repeatedGet          = { unit: 'gets/s', better: 'more', of: ({ cpuMs }) => 1000 / cpuMs };
const indexedList          = { unit: 'lists/s', better: 'more', of: ({ pauseMs = Number.NaN }) => 1000 / pauseMs };

function limit(
  figure        ,
  measurement             ,
  reading         ,
  { reach, aim }                                 ,
)              {
  return { figure, ours: measurement, limit: reach, reading, reach: 1, aim: aim === undefined ? null : reach / aim };
}

function besidePlain(
  figure        ,
  of                                  ,
  reading         ,
  reach               ,
)         {
  return { figure, ours: of(compact), peer: of(ours), reading, reach, aim: null };
}

const go = ['k8s.io/client-go'];
const rust = ['kube', 'k8s-openapi'];
export const benchmark            = {
  subjects: [
    beside('pods', nodeSubject(ours, 'informer/kctl.ts', ['plain'], '@kctl/informer')),
    beside('pods', nodeSubject(compact, 'informer/kctl.ts', ['compact'], '@kctl/informer')),
    beside('pods', nodeSubject(compactMany, 'informer/kctl.ts', ['compact'], '@kctl/informer'), {
      objects: manyObjects,
      events: '0',
    }),
    beside('workloads', nodeSubject(oursOnWorkloads, 'informer/kctl.ts', ['plain'], '@kctl/informer')),
    beside('pods', nodeSubject(byHand, 'informer/by-hand.ts', [], '@kctl/informer')),
    beside('pods', nodeSubject('client-node', 'informer/client-node.ts', [], '@kubernetes/client-node')),
    beside('pods', goSubject('client-go dynamic', 'informer', ['dynamic'], go)),
    beside('pods', goSubject('client-go typed JSON', 'informer', ['typed'], go)),
    beside('workloads', goSubject('client-go structs', 'informer', ['structs'], go)),
    beside('protobuf', goSubject('client-go protobuf', 'informer', ['protobuf'], go)),
    beside('pods', rustSubject('kube-rs dynamic', 'informer', ['dynamic'], rust)),
    beside('pods', rustSubject('kube-rs typed', 'informer', ['typed'], rust)),
  ],
  figures: [
    ...figuresBeside(byHand),
    ...figuresBeside('client-node', {
      listWall: { reach: 3, aim: 6 },
      listCpu: { reach: 3, aim: 6 },
      watchCpu: { reach: 3, aim: 5 },
      memory: { reach: 2, aim: 3.3 },
    }),
    ...figuresBeside('client-go dynamic', {
      listCpu: { reach: 3, aim: 8 },
      watchCpu: { reach: 4, aim: 12 },
      memory: { reach: 2.9, aim: 5 },
    }),
    ...figuresBeside('client-go typed JSON', {
      listCpu: { reach: 1.5, aim: null },
      watchCpu: { reach: 1.5, aim: null },
    }),
    ...figuresBeside('client-go structs', {
      listCpu: { reach: 1.5, aim: null },
      watchCpu: { reach: 1.5, aim: null },
    }),
    ...figuresBeside('client-go protobuf', {
      listCpu: { reach: null, aim: 1 },
      watchCpu: { reach: null, aim: 1 },
      readCpu: { reach: 1, aim: 1.5 },
    }),
    ...figuresBeside('kube-rs dynamic'),
    ...figuresBeside('kube-rs typed'),
    limit('longest turn of the event loop, list', list(ours), pause, { reach: 25, aim: 10 }),
    limit('longest turn of the event loop, events', watch(ours), pause, { reach: 25, aim: 10 }),
    limit('longest turn of the event loop, events, each object read', watchRead(ours), pause, { reach: 25 }),
    limit('turns of the event loop, events, each object read', watchRead(ours), usualPause, { reach: 10 }),
    limit('first read of an object', reads(ours), firstRead, { reach: 20 }),
    limit('repeated get by key', reads(ours), repeatedGet, { reach: 1_000_000 }),
    limit('list of 100 by index', reads(ours), indexedList, { reach: 100_000 }),
    limit(`compact, ${manyObjects} objects: resident memory per object`, many, bytesPerKey, { reach: 1200 }),
    limit('compact: first read of an object', reads(compact), firstRead, { reach: 60 }),
    besidePlain('compact beside plain: list, CPU', list, cpu, null),
    besidePlain('compact beside plain: events, CPU', watch, cpu, 1 / 1.5),
    besidePlain('compact beside plain: resident memory per object', list, bytesPerKey, null),
  ],
};
