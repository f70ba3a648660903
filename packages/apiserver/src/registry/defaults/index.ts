import { Defaulter } from '../../schema/go-defaults.js';
import { otherDefaults } from './others.js';
import { podDefaults } from './pods.js';
import { workloadDefaults } from './workloads.js';

/** Fills in the defaults of the built-in kinds. */
export const builtinDefaulter: Defaulter = new Defaulter(
  new Map([...podDefaults, ...workloadDefaults, ...otherDefaults]),
);
