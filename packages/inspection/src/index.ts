/**
 * Answers why an object was reconciled, why it is stuck and which writer changed it, with a recorder of fixed budget,
 * its endpoint and its page.
 *
 * @packageDocumentation
 */
export { createInspection } from './inspection.js';
export type { CurrentTally, Inspection, ListenOptions } from './inspection.js';
export type { InspectedManager } from './inspected.js';
export type { LoopLag } from './loop-lag.js';
export type { InspectionOptions, RecordingOptions } from './options.js';
export type { RecordedEvent, RecordedWrite } from './recording/cycle.js';
export type { RightRow } from './used-rights.js';
export type { ControllerNode } from './views/graph.js';
export type { InformerRow } from './views/informers.js';
export type { KeyRow, KeySort, KeysQuery, KeyState, KeysView } from './views/keys.js';
export type { ControllerRow, OverviewView, Problem } from './views/overview.js';
export type { CycleView, EventView, RunReference, TimelineQuery, TimelineView, WriteView } from './views/timeline.js';
