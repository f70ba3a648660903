// What the import of the facade costs a process: import.ts
import { printSample } from '../harness/measure.js';
import { cpuMs } from '../informer/usage.js';

const start = { wall: performance.now(), cpu: cpuMs() };
await import('@kctl/runtime');
const importMs = performance.now() - start.wall;
printSample({ ops: 1, wallMs: importMs, cpuMs: cpuMs() - start.cpu, ...{ importMs } });
