import { parseBody, type ParsedBody, type ProtobufBody } from '../codecs/body.js';
import { JsonSyntaxError, TooDeepError } from '../json/strict-json.js';
import { YamlProblem } from '../json/yaml.js';
import { ProtobufError } from '../protobuf/wire-reader.js';
import { cannotBeHandled } from '../resource/decode-head.js';
import type { KindRef } from '../resource/resource.js';
import { badRequest } from '../protocol/status.js';
import type { ResourceCall } from './call.js';

const summaryBytes = 30;

/**
 * The start of a body, as upstream quotes it, in plain characters if it looks like an object, hexadecimal otherwise.
 */
export function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const start = Buffer.from(bytes.subarray(0, summaryBytes));
  const text = start.toString(start[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > summaryBytes ? `${text} ...` : text;
}

/** The kind of the object that a write sends, either of the resource or of the subresource. */
function bodyKind({ definition, path }: ResourceCall): KindRef {
  const [name = ''] = path.subresource.split('/');
  const subresource = definition.subresources.get(name);
  if (subresource?.type === 'view') return subresource.view.kind;
  return subresource?.type === 'action' ? subresource.accepts : definition;
}

/** Protobuf in the body of a write; custom resources have none, but their Scale has. */
function protobufBody(call: ResourceCall): ProtobufBody | undefined {
  const expected = bodyKind(call);
  if (call.definition.isCustom && expected === call.definition) return undefined;
  const { group, version, kind } = expected;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return {
    apiVersion,
    kind,
    fail: (given, why) => {
      const givenVersion = given.apiVersion.slice(given.apiVersion.indexOf('/') + 1);
      return cannotBeHandled({ apiVersion, group, kind, version: givenVersion }, given.kind, why);
    },
  };
}

/** The body of a write, read. @throws StatusError 400, 413, 415 */
export async function readWriteBody(call: ResourceCall): Promise<ParsedBody> {
  const { request } = call;
  const bytes = await request.readBody();
  try {
    return await parseBody(bytes, request.header('content-type'), {
      expected: protobufBody(call),
      offload: call.offload,
      signal: request.signal,
    });
  } catch (error) {
    const why = error instanceof TooDeepError ? undefined : syntaxProblem(error);
    if (why === undefined) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${bodyKind(call).kind}): ${why} (${summarize(bytes)})`,
    );
  }
}

/** Upstream's message for a body whose kind could not be found out; undefined for other failures. */
export function syntaxProblem(error: unknown): string | undefined {
  if (error instanceof JsonSyntaxError) return `couldn't get version/kind; json parse error: ${error.message}`;
  return error instanceof ProtobufError || error instanceof YamlProblem ? error.message : undefined;
}
