/** Stands where envtest starts kube-apiserver: takes its flags, and serves. */
import { keepCompiledCode } from '../process/compile-cache.js';

// All else is read after this: what Node compiled for the start before is not compiled again.
keepCompiledCode();
await import('./kube-apiserver-command.js');
