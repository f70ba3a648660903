import { isNoKindMatch } from '@kctl/apimachinery';
import type { LogFields, Logger } from '@kctl/telemetry';

/** Message of the API server for a forbidden request, in each of its releases. */
const forbidden = /cannot (\w+) resource "([^"]*)" in API group "([^"]*)"/;
/** How deep a chain of causes is looked at. */
const maxDepth = 8;

/**
 * Remedy if the API server has refused a request, or if a cause of the error was such a refusal. It names the rule that
 * a role lacks, or the definition that is not installed.
 */
export function remedyOfRefusal(error: unknown): string | undefined {
  let link = error;
  for (let depth = 0; depth < maxDepth && link instanceof Error; depth++) {
    const [, verb, resource, group] = forbidden.exec(link.message) ?? [];
    if (verb !== undefined)
      return `add { apiGroups: [${JSON.stringify(group)}], resources: [${JSON.stringify(resource)}], verbs: [${JSON.stringify(verb)}] } to the role of the operator: npx kctl generate rbac writes what for, owns, watches and needs declare`;
    if (isNoKindMatch(link))
      return 'npx kctl install applies the definitions of the kinds that the operator brings; those of others are installed with what they belong to';
    link = link.cause;
  }
  return undefined;
}

/** A logger that adds the field `remedy` to warnings and errors whose `error` is a right or a kind that is missing. */
export function withRemedies(logger: Logger): Logger {
  const add = (fields: LogFields | undefined): LogFields | undefined => {
    const remedy = fields === undefined ? undefined : remedyOfRefusal(fields['error']);
    return remedy === undefined ? fields : { ...fields, remedy };
  };
  return {
    isEnabled: (level) => logger.isEnabled(level),
    trace: (message, fields) => logger.trace(message, fields),
    debug: (message, fields) => logger.debug(message, fields),
    info: (message, fields) => logger.info(message, fields),
    warn: (message, fields) => logger.warn(message, add(fields)),
    error: (message, fields) => logger.error(message, add(fields)),
    child: (fields) => withRemedies(logger.child(fields)),
  };
}
