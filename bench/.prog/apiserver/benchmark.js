import { join } from 'node:path';
import { cpu, pause, throughput } from '../harness/benchmark.js';
                                                                                                             
import { nodeSubject } from '../harness/subjects.js';
import { extra } from '../servers/extra-reading.js';
import { onServer, sharedServer } from '../servers/shared-server.js';
import { largeCount, smallCount } from './workload.js';

const seed = join(import.meta.dirname, 'seed.ts');
const ours = '@kctl/apiserver';
const peer = 'kube-apiserver';
const embedded = sharedServer('embedded', seed);
const real = sharedServer('real', seed);

const load = (name        )          => nodeSubject(name, 'apiserver/load.ts', [], ours);
const starting = (name        , kind        )          => nodeSubject(name, 'apiserver/start.ts', [kind], ours);

/** Started for each measurement; skipped where the real server cannot be had. */
const startingReal          = {
  name: `${peer}, new`,
  prepare: async () => {
    const prepared = await starting(peer, 'real').prepare();
    const server = await real();
    return 'failure' in server ? { skipped: server.failure } : { ...prepared, version: server.version };
  },
};

const duration          = { unit: 'ms', better: 'less', of: ({ wallMs }) => wallMs };
const serverCpu          = { ...cpu, unit: 'server CPU µs/op' };

/** What is measured, with its limit as a rate where there is one. */
                
                        
                                   
                          
 

function figures({ name, args, limit }      )                           {
  const mine              = { subject: ours, args };
  const theirs              = { subject: peer, args };
  return [
    ...(limit === undefined ? [] : [{ figure: name, ours: mine, limit, reading: throughput, reach: 1, aim: null }]),
    { figure: name, ours: mine, peer: theirs, reading: throughput, reach: null, aim: null },
    { figure: `${name}: server CPU`, ours: mine, peer: theirs, reading: serverCpu, reach: null, aim: null },
  ];
}

const blocked              = { subject: ours, args: ['blocked', '0', '1'] };
const blockedThere              = { ...blocked, subject: peer };
const started              = { subject: `${ours}, new`, args: ['start'] };
const startedThere              = { subject: `${peer}, new`, args: ['start'] };
const inProcess              = { subject: `${ours}, in process`, args: ['start'] };
const none = { reach: null, aim: null };
const must = { reach: 1, aim: null };

export const benchmark            = {
  subjects: [
    onServer(load(ours), embedded),
    onServer(load(peer), real),
    starting(`${ours}, new`, 'embedded'),
    startingReal,
    starting(`${ours}, in process`, 'in-process'),
  ],
  figures: [
    ...figures({ name: 'watch events to 20 watchers', args: ['watch', '20', '1000'] }),
    ...figures({ name: 'watch events to 200 watchers', args: ['watch', '200', '300'], limit: 50_000 }),
    ...figures({ name: 'creates of 1 KB, 16 connections', args: ['create', '0', '1500'], limit: 1500 }),
    ...figures({ name: 'gets of 1 KB, 16 connections', args: ['get', '0', '3000'] }),
    ...figures({ name: `lists of ${smallCount} × 1 KB`, args: ['list', '0', '6'] }),
    ...figures({ name: 'protobuf: watch events to 20 watchers', args: ['watch-protobuf', '20', '1000'] }),
    ...figures({ name: `protobuf: lists of ${smallCount} × 1 KB`, args: ['list-protobuf', '0', '6'] }),
    { figure: `list of ${largeCount} × 1 KB`, ours: blocked, peer: blockedThere, reading: duration, ...none },
    { figure: `longest get beside it`, ours: blocked, peer: blockedThere, reading: pause, ...none },
    { figure: `longest get beside it`, ours: blocked, limit: 50, reading: pause, ...must },
    { figure: 'ready as a process', ours: started, peer: startedThere, reading: duration, ...none },
    { figure: 'ready as a process', ours: started, limit: 150, reading: duration, ...must },
    { figure: 'ready in process', ours: inProcess, limit: 150, reading: duration, ...must },
    { figure: 'memory when idle', ours: started, peer: startedThere, reading: extra('residentMb', 'MiB RSS'), ...none },
  ],
};
