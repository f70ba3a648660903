#!/usr/bin/env node
import { keepCompiledCode } from './process/compile-cache.js';

// All else is read after this: what Node compiled for the start before is not compiled again.
keepCompiledCode();
await import('./command.js');
