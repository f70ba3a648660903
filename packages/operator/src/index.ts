/**
 * An operator as a value (its kinds, its settings and its wiring), for the process that runs it and for the tools that
 * write its manifests.
 *
 * @packageDocumentation
 */
export { isSettingsError, SettingsError } from './errors.js';
export { loadSettings } from './load-settings.js';
export type { LoadedSettings, SettingsSources } from './load-settings.js';
export { defineOperator } from './operator.js';
export type { Operator, OperatorGraph, OperatorOptions, OperatorResource } from './operator.js';
export type { SettingsIssue, SettingsOf, SettingsResult, SettingsSchema } from './settings-schema.js';
export { managerOptionsOf, standardDefaults } from './standard-settings.js';
export type { StandardSettings } from './standard-settings.js';
