/**
 * Kubernetes JSON as bytes. Cuts lists and watches into objects and finds the fields that routing needs without parsing
 * the object. Pure functions over memory, no I/O.
 *
 * @packageDocumentation
 */
export { compileFieldPaths, fieldAt, splitPath } from './field-paths.js';
export type { FieldPaths, KeyMark, PathNode } from './field-paths.js';
export { framesOfLine, isOneFrame, splitDocuments } from './documents.js';
export { freeMemory } from './free-memory.js';
export { FrameError, isFrameError } from './frame-error.js';
export { createLineSplitter } from './line-splitter.js';
export type { LineSplitter } from './line-splitter.js';
export { createListSplitter } from './list-splitter.js';
export type { ListEnvelope, ListSplitter } from './list-splitter.js';
export { otherListType } from './list-type.js';
export type { ListType } from './list-type.js';
export { headerOf, headerValues } from './object-header.js';
export type { HeaderSource, ObjectHeader } from './object-header.js';
export { mayRepeat, scanBodyFields } from './scan-fields.js';
export { createObjectScan, scanObject } from './scan-object.js';
export type { ObjectScan } from './scan-object.js';
export { skipSpace } from './skip.js';
export { asBuffer, readAscii, readText } from './text.js';
export { createWatchFrameScan, scanWatchFrame } from './watch-frame.js';
export type { WatchFrameScan, WatchFrameType } from './watch-frame.js';
