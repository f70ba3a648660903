// Runs one step of the port: STEP=5-manager (the default), on the cluster of KUBECONFIG.
import { hostname } from 'node:os';
import { KubeConfig } from '@kubernetes/client-node';
import type { Step } from './start.js';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();
const { run } = (await import(`./steps/${process.env['STEP'] ?? '5-manager'}.ts`)) as { run: Step };
const identity = `${hostname()}_${process.pid}`;
await run({ kubeConfig, identity, signal: stop.signal, log: (line) => console.log(line) });
