import { isJsonObject } from '@kctl/apimachinery/internal';
import { jsonProblem } from '../handler/read-json.js';
import { errored, type AdmissionResponse } from '../handler/review.js';

/**
 * Returns a handler's response, if an API server can read it, and a refusal with 500 otherwise, because an unreadable
 * response is a failed call, which `failurePolicy: Ignore` lets pass. Never throws.
 */
export function checkedResponse(response: unknown): AdmissionResponse {
  let problem: string | undefined;
  try {
    problem = responseProblem(response);
  } catch {
    problem = 'an AdmissionResponse that cannot be read';
  }
  return problem === undefined ? (response as AdmissionResponse) : errored(500, `the handler returned ${problem}`);
}

function responseProblem(response: unknown): string | undefined {
  if (!isJsonObject(response) || typeof response['allowed'] !== 'boolean') return 'no AdmissionResponse';
  const { patches, warnings, auditAnnotations, result } = response;
  if (warnings !== undefined && !(Array.isArray(warnings) && warnings.every(isText)))
    return 'warnings that are not a list of strings';
  if (auditAnnotations !== undefined && !isAnnotations(auditAnnotations))
    return 'auditAnnotations that are not an object of strings';
  return patchesProblem(patches) ?? resultProblem(result);
}

/** A response that cannot be written at all is left to the one place that writes answers, which fails with HTTP 500. */
function isAnnotations(value: unknown): boolean {
  const isUnwritable = (member: unknown): boolean => typeof member === 'object' && jsonProblem(member) !== undefined;
  return isJsonObject(value) && Object.values(value).every((member) => isText(member) || isUnwritable(member));
}

function patchesProblem(patches: unknown): string | undefined {
  if (patches === undefined) return undefined;
  const isList =
    Array.isArray(patches) &&
    patches.every((patch) => isJsonObject(patch) && isText(patch['op']) && isText(patch['path']));
  if (!isList) return 'patches that are not a list of JSON patch operations';
  const problem = jsonProblem(patches);
  return problem === undefined ? undefined : `patches that cannot be written as JSON: ${problem}`;
}

function resultProblem(result: unknown): string | undefined {
  if (result === undefined) return undefined;
  if (!isJsonObject(result)) return 'a result that is not a Status';
  const { code, message, reason } = result;
  const isStatus =
    (code === undefined || (typeof code === 'number' && Number.isInteger(code))) &&
    (message === undefined || isText(message)) &&
    (reason === undefined || isText(reason));
  return isStatus ? undefined : 'a result that is not a Status';
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
