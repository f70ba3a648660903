/**
 * Deterministic simulation of replicas of an operator and an API server in virtual time, with faults, invariants and
 * seeds that replay.
 *
 * @packageDocumentation
 */
export { defaultFaultRates } from './faults/fault.js';
export type { FaultName, FaultRates } from './faults/fault.js';
export type { SeedProgress, SimulateOptions } from './options.js';
export { ruleNames } from './rules/rule-names.js';
export { isSimulationFailed, simulate, SimulationFailedError } from './simulate.js';
export type { SimulationResult } from './simulate.js';
export { formatStep } from './timeline.js';
export type { Step } from './timeline.js';
export type { Violation } from './violation.js';
export type { Operator, Replica, ReplicaWorld, SimulatedWebhook, World, WorldOptions } from './world.js';
