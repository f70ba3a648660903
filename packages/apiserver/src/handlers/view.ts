import type { UntypedObject } from '@kctl/apimachinery';
import type { Decoded, ObjectView } from '../registry/resource.js';
import { badRequest, conflict, invalid } from '../registry/status.js';
import type { Reply } from '../server/api-request.js';
import { scaleColumns } from '../table/scale-columns.js';
import { renderObject, type ObjectVersion, type Rendering } from '../storage/version.js';
import { readWriteBody } from './body.js';
import type { Backend, ResourceCall } from './call.js';
import { retryOnLostRace } from './commit.js';
import { patchTypeOf, readPatch, undecodablePatch } from './patch.js';
import { objectReply } from './reply.js';
import { requirePresent, writeUpdate } from './update.js';
import { parseWriteOptions, reportProblems, type WriteOptions } from './write-options.js';

/** A view of an object (a Scale) as an answer. */
function viewReply(backend: Backend, call: ResourceCall, view: ObjectView, rendering: Rendering): Promise<Reply> {
  const { kind } = view;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const definition = {
    ...call.definition,
    kind: kind.kind,
    apiVersion,
    columns: scaleColumns,
    cells: (object: UntypedObject, now: number) => scaleColumns.map((column) => column.cell(object, now)),
  };
  const shown = renderObject(view.show(rendering.object));
  return objectReply(backend, { ...call, definition }, { status: 200, rendering: shown });
}

/** GET of a view. */
export function getView(backend: Backend, call: ResourceCall, view: ObjectView): Promise<Reply> {
  return viewReply(backend, call, view, requirePresent(backend, call).in(call.definition));
}

/** PUT or PATCH of a view: the object behind it changes. */
export async function writeView(backend: Backend, call: ResourceCall, view: ObjectView): Promise<Reply> {
  const isPatch = call.request.method === 'PATCH';
  const patchType = isPatch ? patchTypeOf(call) : '';
  const options = parseWriteOptions(call, isPatch ? 'PatchOptions' : 'UpdateOptions');
  const make = isPatch ? await readPatch(call, patchType) : await bodyAsView(call, view, options);
  const rendering = await retryOnLostRace(
    () => writeViewOnce(backend, call, { view, options, make }),
    () => conflict(call.definition, call.path.name),
  );
  return viewReply(backend, call, view, rendering);
}

async function bodyAsView(call: ResourceCall, view: ObjectView, options: WriteOptions): Promise<() => unknown> {
  const body = await readWriteBody(call);
  reportProblems(call, body.duplicates, options.fieldValidation);
  view.decode({ value: structuredClone(body.value) });
  return () => body.value;
}

function decodeView({ request }: ResourceCall, view: ObjectView, value: unknown): Decoded {
  try {
    return view.decode({ value: structuredClone(value) });
  } catch (error) {
    throw request.method === 'PATCH' ? undecodablePatch(error, value) : error;
  }
}

function writeViewOnce(
  backend: Backend,
  call: ResourceCall,
  step: { readonly view: ObjectView; readonly options: WriteOptions; readonly make: (shown: unknown) => unknown },
): Rendering {
  const { view, options, make } = step;
  const { definition, path } = call;
  const present: ObjectVersion = requirePresent(backend, call);
  const { object } = present.in(definition);
  const value = structuredClone(make(view.show(object, true)));
  const { object: wanted, problems } = decodeView(call, view, value);
  reportProblems(call, problems, options.fieldValidation);
  const { name = '', resourceVersion = '' } = wanted.metadata;
  if (name !== '' && name !== path.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${path.name})`);
  if (resourceVersion !== '' && resourceVersion !== String(present.revision)) throw conflict(definition, path.name);
  const errors = view.validate(wanted);
  if (errors.length > 0) throw invalid({ group: view.kind.group, kind: view.kind.kind }, path.name, errors);
  const next = structuredClone(view.write(wanted, object));
  next.metadata.resourceVersion = String(present.revision);
  return writeUpdate(backend, call, {
    object: next,
    present,
    target: { strategy: definition, subresource: 'scale' },
    options,
  });
}
