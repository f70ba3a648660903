/** Replaces kube-apiserver for envtest. Takes its flags, and serves. */
import { keepCompiledCode } from '../process/compile-cache.js';

// All else is read after this, so that code compiled by Node for the previous start is not compiled again.
keepCompiledCode();
await import('./kube-apiserver-command.js');
