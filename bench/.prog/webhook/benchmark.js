import { join } from 'node:path';
import { compare, pause,                                                } from '../harness/benchmark.js';
import { goSubject, nodeSubject } from '../harness/subjects.js';

const reviews = process.env['KCTL_BENCH_REVIEWS'] ?? '20000';
const root = join(import.meta.dirname, '..', '..', '..');

/** A server, measured by the one client. */
function served(server         )          {
  return {
    name: server.name,
    prepare: async () => {
      if (process.platform !== 'linux') return { skipped: 'the CPU time of another process is read as Linux tells it' };
      const prepared = await server.prepare();
      if ('skipped' in prepared) return prepared;
      const client = [
        process.execPath,
        '--import',
        join(root, 'scripts', 'typescript.mjs'),
        join(import.meta.dirname, 'measure.ts'),
      ];
      return { command: [...client, JSON.stringify(prepared.command)], version: prepared.version };
    },
  };
}

const ours = (path        )              => ({ subject: '@kctl/webhook', args: [path, reviews] });
const peer = (path        )              => ({ subject: 'controller-runtime', args: [path, reviews] });

const figuresOf = (what        , path        )                       => [
  ...compare(`admissions, ${what}`, ours(path), peer(path), 1).map((figure) => ({
    ...figure,
    aim: figure.aim === null ? null : 1.5,
  })),
  {
    figure: `admissions, ${what}: 99th percentile`,
    ours: ours(path),
    peer: peer(path),
    reading: pause,
    reach: 1,
    aim: null,
  },
];

/** A Pod of 1.5 kB, 16 connections kept alive, TLS, HTTP/1.1; CPU time and memory are the server's. */
export const benchmark            = {
  subjects: [
    served(nodeSubject('@kctl/webhook', 'webhook/kctl.ts', [], '@kctl/webhook')),
    served(goSubject('controller-runtime', 'webhook', [], ['sigs.k8s.io/controller-runtime'])),
  ],
  figures: [...figuresOf('a defaulter that patches', '/default'), ...figuresOf('a validator that allows', '/validate')],
};
