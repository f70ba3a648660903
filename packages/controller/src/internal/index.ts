/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { headerOfEvent } from '../event/object-event.js';
export type { Provided } from '../object/inject.js';
export { controllerSettingNames, observerOption } from '../check-options.js';
export { parseCron } from '../source/cron-schedule.js';
