import { join } from 'node:path';
import { cpu, pause, peakMemory, throughput } from '../harness/benchmark.js';
                                                                                       
import { goSubject, nodeSubject } from '../harness/subjects.js';
import { onServer, sharedServer } from '../servers/shared-server.js';

const requests = process.env['KCTL_BENCH_REQUESTS'] ?? '2000';
const listSize = process.env['KCTL_BENCH_LIST'] ?? '50000';
const concurrency = '16';

// Prepared answers rather than an API server: no API server on the other core of a small machine keeps up with these
// clients, and the figures would be its own.
const server = sharedServer(join(import.meta.dirname, 'server.ts'));
const ours = '@kctl/client-http';
const clientNode = 'client-node';
const go = 'controller-runtime';

const run =
  (scenario        , count        ) =>
  (subject        )              => ({ subject, args: [scenario, count, concurrency] });

const listTime          = { unit: 'ms', better: 'less', of: ({ wallMs }) => wallMs };
const listCpu          = { unit: 'CPU ms', better: 'less', of: ({ cpuMs }) => cpuMs };

function versus(peer        , reach               )           {
  const aim = reach === null ? null : reach * 2;
  const list = run('list', listSize);
  return [
    ...['get', 'create', 'patch'].flatMap((scenario)           => {
      const of = run(scenario, requests);
      const sides = { ours: of(ours), peer: of(peer) };
      return [
        { figure: `${scenario} a pod, ${concurrency} at a time`, ...sides, reading: throughput, reach, aim },
        { figure: `${scenario} a pod: CPU time`, ...sides, reading: cpu, reach, aim },
      ];
    }),
    { figure: `list ${listSize} pods`, ours: list(ours), peer: list(peer), reading: listTime, reach: null, aim: null },
    {
      figure: `list ${listSize} pods: CPU time`,
      ours: list(ours),
      peer: list(peer),
      reading: listCpu,
      reach: null,
      aim: null,
    },
    {
      figure: `list ${listSize} pods: peak memory`,
      ours: list(ours),
      peer: list(peer),
      reading: peakMemory,
      reach: null,
      aim: null,
    },
  ];
}

const listOf = run('list', listSize);
const longestTurn = `list ${listSize} pods: longest turn of the event loop`;

export const benchmark            = {
  subjects: [
    nodeSubject(ours, 'client/kctl.ts', [], '@kctl/client-http'),
    nodeSubject(clientNode, 'client/client-node.ts', [], '@kubernetes/client-node'),
    goSubject(go, 'client', [], ['sigs.k8s.io/controller-runtime']),
  ].map((subject) => onServer(subject, server)),
  figures: [
    ...versus(clientNode, 1.5),
    { figure: longestTurn, ours: listOf(ours), peer: listOf(clientNode), reading: pause, reach: null, aim: null },
    { figure: longestTurn, ours: listOf(ours), limit: 20, reading: pause, reach: 1, aim: null },
    ...versus(go, null),
  ],
};
